#pragma once

#include <string>
#include <vector>

#include "experiments/stop_text.h"
#include "experiments/utf8_stream.h"

namespace tapeline {

/// One text that goes on from a prompt, as it comes: cut off before a stop text, as valid UTF-8.
class Continuation {
 public:
  Continuation(const std::string& prompt, const std::vector<std::string>& stops)
      : stop_(stops), prompt_(utf8_.push(prompt)) {}

  /// What of the text is certain with these bytes.
  std::string push(const std::string& bytes) { return keep(utf8_.push(stop_.push(bytes))); }
  std::string finish() { return keep(utf8_.push(stop_.finish()) + utf8_.finish()); }

  const std::string& prompt() const { return prompt_; }
  const std::string& text() const { return text_; }                ///< without the prompt
  const std::string& stopped_by() const { return stop_.found(); }  ///< empty: by nothing

 private:
  std::string keep(const std::string& part) {
    text_ += part;
    return part;
  }

  StopText stop_;
  Utf8Stream utf8_;
  std::string prompt_, text_;
};

}  // namespace tapeline
