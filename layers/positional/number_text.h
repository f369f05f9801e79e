#pragma once

#include <optional>
#include <string_view>

#include "core/index.h"

/// What a text option with `number_too` spells.
namespace tapeline {

/// The finite number; nullopt where it is one of the option's words.
std::optional<double> number_of_text(std::string_view text);

/// The same where `word` is the only word. Throws ConfigError naming `key` ("positional.xpos.center") for any
/// other text.
std::optional<double> number_or_word(std::string_view key, std::string_view text,
                                     std::string_view word = "auto");

/// A whole number of at least `lowest`, or what "auto" stands for. Throws ConfigError naming `key`.
Index whole_or_auto(std::string_view key, std::string_view text, Index automatic, Index lowest);

}  // namespace tapeline
