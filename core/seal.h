#pragma once

#include <string>
#include <string_view>

namespace tapeline {

/// How a text file ends with the digest of all that stands before, so that one which was cut short, damaged
/// or changed by hand is not believed: `opening`, 64 hexadecimal digits of SHA-256, `closing`.
struct SealForm {
  std::string_view opening, closing;
};

/// A comment as the last line, for TOML.
inline constexpr SealForm comment_seal{"# sha256 of all above: ", "\n"};
/// The last member of an object that nlohmann::json::dump(1) wrote, for JSON.
inline constexpr SealForm member_seal{",\n \"sha256\": \"", "\"\n}\n"};

/// `text` with its seal behind it.
std::string sealed(std::string text, const SealForm& form);
/// The JSON text of an object with at least one member, as dump(1) gives it, with its digest as the last
/// member.
std::string sealed_object(std::string dumped);

/// Whether `text` ends with a seal of that form, of the very text before it.
bool has_seal(std::string_view text, const SealForm& form);

}  // namespace tapeline
