#pragma once

#include <string>
#include <string_view>

namespace tapeline {

/// A text from outside for a terminal, which would obey what is in it: control characters (U+0000 to U+001F
/// but newline and tab, U+007F to U+009F) become "\\u{1b}", bytes that are no UTF-8 become U+FFFD. All else
/// stands as it is. `text` ends with a whole character.
std::string visible_text(std::string_view text);

}  // namespace tapeline
