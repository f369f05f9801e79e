#include "core/seal.h"

#include <utility>

#include "core/error.h"
#include "core/sha256.h"

namespace tapeline {

std::string sealed(std::string text, const SealForm& form) {
  const std::string digest = sha256_hex(text);
  text += form.opening;
  text += digest;
  text += form.closing;
  return text;
}

std::string sealed_object(std::string dumped) {
  constexpr std::string_view end = "\n}";
  require<StateError>(dumped.ends_with(end), "seal: the JSON text is no object of several lines");
  dumped.resize(dumped.size() - end.size());
  return sealed(std::move(dumped), member_seal);
}

bool has_seal(std::string_view text, const SealForm& form) {
  constexpr std::size_t digits = 64;
  const std::size_t seal = form.opening.size() + digits + form.closing.size();
  if (text.size() < seal || !text.ends_with(form.closing)) return false;
  const std::string_view body = text.substr(0, text.size() - seal);
  return text.substr(body.size()).starts_with(form.opening) &&
         text.substr(body.size() + form.opening.size(), digits) == sha256_hex(body);
}

}  // namespace tapeline
