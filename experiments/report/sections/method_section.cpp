#include <fmt/format.h>

#include "experiments/report/html.h"
#include "experiments/report/html_parts.h"
#include "experiments/report/sections/section.h"
#include "experiments/report/variants.h"

namespace tapeline {
namespace {

/// What validating on blocks of the text that was trained on can and cannot say.
std::string neighbours_text(const Comparison& comparison) {
  std::string text =
      "Training, validation and test blocks alternate within one text: a validation block has training text "
      "before and behind it, with its names, topics and style, so the levels are as a rule lower than on a "
      "text from elsewhere.";
  if (comparison.config.data.source == "kjv") {
    text +=
        " The King James text also tells much of it twice (the gospels; Samuel and Kings beside Chronicles): "
        "near-duplicates of validation passages can stand in the training blocks, and an encoding that "
        "learns them better gains by it.";
  }
  return text;
}

/// " Sliding windows and all that is compared with them are over 4,096 of these."; empty without any.
std::string sliding_text(const std::vector<Series>& all) {
  const Index tokens = sliding_tokens(all);
  if (tokens == 0) return {};
  return fmt::format(" Sliding windows, and what is compared with them, are over a part of these: {}.",
                     number_text(tokens));
}

std::string list_item(const std::string& text) { return "<li>" + html_escape(text) + "</li>\n"; }

}  // namespace

Section method_section(const ReportData& data) {
  const Comparison& comparison = data.comparison;
  const std::string unit = token_unit(comparison);
  std::string items =
      list_item(
          fmt::format("All losses are on the validation blocks, which no model was trained on; means are "
                      "over {}. Loss by length and by position is over {} target {}, the same at every "
                      "length and for every {}.{} Where a number is of fewer targets, it says beside it "
                      "of how many.",
                      unit, number_text(comparison.scored_tokens), unit, variant_word(comparison.config),
                      sliding_text(data.all))) +
      list_item(neighbours_text(comparison)) +
      list_item(fmt::format("Non-overlapping: windows stand side by side, the j-th target of a window sees j "
                            "{} and nothing before. Short windows pay for their many targets without "
                            "history, so a small gain with length is no proof that the longer context is "
                            "used.",
                            unit)) +
      list_item("Sliding: every window scores only its last targets, which then have full history.") +
      list_item(pairing_text(comparison.config)) +
      list_item(
          "The weights after the last step are evaluated; none was chosen by its loss at a longer "
          "length.") +
      list_item("No length is extrapolated in silence: an encoding without such positions is refused (n/a).");
  return {"method", "Method", "How it was measured", "<ul>\n" + items + "</ul>\n"};
}

}  // namespace tapeline
