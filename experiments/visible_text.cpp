#include "experiments/visible_text.h"

#include <fmt/format.h>

#include "core/utf8.h"

namespace tapeline {

std::string visible_text(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const Utf8Front front = utf8_front(text);
    const char32_t code = front.code;
    const bool obeyed = (code < 0x20 && code != U'\n' && code != U'\t') || (code >= 0x7F && code < 0xA0);
    if (front.kind != Utf8Front::character) {
      append_utf8(shown, 0xFFFD);
    } else if (obeyed) {
      shown += fmt::format("\\u{{{:x}}}", static_cast<unsigned>(code));
    } else {
      shown += text.substr(0, front.bytes);
    }
    text.remove_prefix(front.bytes);
  }
  return shown;
}

}  // namespace tapeline
