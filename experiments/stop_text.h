#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tapeline {

/// Ends a text that arrives piece by piece before the first of some texts that stands in it, wherever the
/// pieces are cut. What may be the beginning of such a text is held back until that is known.
class StopText {
 public:
  /// None of them is empty; without any the text never ends here.
  explicit StopText(std::vector<std::string> stops) : stops_(std::move(stops)) {}

  /// What is certain with this piece. Nothing any more once the text has ended.
  std::string push(std::string_view piece);
  /// What was held back, where the text ends for another reason.
  std::string finish();

  /// The text that ended it: of those that are complete at the same byte the longest; empty: it has not
  /// ended.
  const std::string& found() const { return found_; }

 private:
  std::size_t possible_beginning() const;

  std::vector<std::string> stops_;
  std::string held_;
  std::string found_;
};

}  // namespace tapeline
