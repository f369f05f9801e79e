#pragma once

#include <string>
#include <string_view>

namespace tapeline {

/// Makes valid UTF-8 of bytes that arrive piece by piece: a character that is not complete yet is held back,
/// and what can be no part of a character becomes U+FFFD, one for each longest part that might have been one.
class Utf8Stream {
 public:
  /// The text that is complete with these bytes.
  std::string push(std::string_view bytes);
  /// What is left at the end: U+FFFD for an incomplete character, or nothing.
  std::string finish();

 private:
  std::string held_;
};

/// All of it at once.
std::string valid_utf8(std::string_view bytes);

}  // namespace tapeline
