#include "experiments/utf8_stream.h"

#include "core/utf8.h"

namespace tapeline {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

}  // namespace

std::string Utf8Stream::push(std::string_view bytes) {
  held_ += bytes;
  std::string text;
  std::string_view rest = held_;
  while (!rest.empty()) {
    const Utf8Front front = utf8_front(rest);
    if (front.kind == Utf8Front::incomplete) break;
    text += front.kind == Utf8Front::character ? rest.substr(0, front.bytes) : replacement;
    rest.remove_prefix(front.bytes);
  }
  held_.erase(0, held_.size() - rest.size());
  return text;
}

std::string Utf8Stream::finish() {
  if (held_.empty()) return {};
  held_.clear();
  return std::string(replacement);
}

std::string valid_utf8(std::string_view bytes) {
  Utf8Stream stream;
  std::string text = stream.push(bytes);
  return text + stream.finish();
}

}  // namespace tapeline
