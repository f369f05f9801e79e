#pragma once

#include <initializer_list>
#include <string>

#include "core/error.h"
#include "layers/transformer.h"

/// What a model that makes no sense is told.
namespace tapeline::inline TAPELINE_PRECISION {

/// The text of the error of this kind that the call throws; empty: none.
template <class Kind, class Call>
std::string text_of_error(Call&& call) {
  try {
    call();
  } catch (const Kind& error) {
    return error.what();
  }
  return "";
}

/// The text of the ConfigError that the plan earns; empty when it builds.
inline std::string refused_plan(const ModelPlan& plan) {
  return text_of_error<ConfigError>([&] { const Transformer model(plan); });
}

/// Whether a text of one line has all of these words.
inline bool tells(const std::string& text, std::initializer_list<const char*> words) {
  for (const char* word : words) {
    if (text.find(word) == std::string::npos) return false;
  }
  return text.find('\n') == std::string::npos;
}

}  // namespace tapeline::inline TAPELINE_PRECISION
