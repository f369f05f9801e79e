#pragma once

#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>

#include "core/seal.h"

namespace tapeline {

/// The object as the text of a file that ends with its digest.
inline std::string sealed_json(const nlohmann::ordered_json& object) {
  return sealed_object(object.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

/// What `read` makes of the object; nothing for text that sealed_json() did not write, and where `read`
/// throws, for JSON of another form.
template <class Read>
auto read_sealed_json(const std::string& text, const Read& read)
    -> std::optional<std::invoke_result_t<Read, const nlohmann::ordered_json&>> {
  if (!has_seal(text, member_seal)) return std::nullopt;
  try {
    return read(nlohmann::ordered_json::parse(text));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace tapeline
