#include <fmt/format.h>

#include <algorithm>

#include "experiments/report/html.h"
#include "experiments/report/html_parts.h"
#include "experiments/report/sections/section.h"

namespace tapeline {
namespace {

Index count_of(const std::vector<CriterionResult>& criteria, Verdict verdict) {
  return std::ranges::count_if(
      criteria, [&](const CriterionResult& criterion) { return criterion.verdict == verdict; });
}

/// What became of a criterion: it was judged; something was found, but not all that a verdict needs, or none
/// is given on it; or nothing was found.
enum class Outcome { judged, not_judged, not_measured };
Outcome outcome_of(const CriterionResult& criterion) {
  if (criterion.verdict) return Outcome::judged;
  return criterion.figure.empty() ? Outcome::not_measured : Outcome::not_judged;
}

Index count_of(const std::vector<CriterionResult>& criteria, Outcome outcome) {
  return std::ranges::count(criteria, outcome, outcome_of);
}

/// "holds", "fails", "inconclusive", "not judged", "not measured", of a criterion or one number of it.
std::string word_of(const std::optional<Verdict>& verdict, const std::string& found) {
  if (verdict) return verdict_text(*verdict);
  return found.empty() ? "not measured" : "not judged";
}

/// "Of 10 criteria measured here 6 hold, 1 fails and 2 are inconclusive; 1 is not judged. Primary, declared
/// before the run: C1 holds and C2 fails."
std::string summary_text(const std::vector<CriterionResult>& criteria) {
  const Index holding = count_of(criteria, Verdict::holds), failing = count_of(criteria, Verdict::fails),
              open = count_of(criteria, Verdict::inconclusive),
              unjudged = count_of(criteria, Outcome::not_judged),
              measured = holding + failing + open + unjudged;
  if (measured == 0) return "None of the criteria was measured here.";
  std::string text = fmt::format("Of {} criteri{} measured here {} hold{}, {} fail{} and {} {} inconclusive",
                                 measured, measured == 1 ? "on" : "a", holding, holding == 1 ? "s" : "",
                                 failing, failing == 1 ? "s" : "", open, open == 1 ? "is" : "are");
  text += unjudged == 0 ? "." : fmt::format("; {} {} not judged.", unjudged, unjudged == 1 ? "is" : "are");
  std::vector<std::string> primary;
  for (const CriterionResult& criterion : criteria) {
    if (criterion.primary)
      primary.push_back(fmt::format("{} {}{}", criterion.id, criterion.verdict ? "" : "was ",
                                    word_of(criterion.verdict, criterion.figure)));
  }
  if (!primary.empty()) text += fmt::format(" Primary, declared before the run: {}.", joined(primary));
  return text;
}

constexpr const char* several_note =
    "No allowance is made for several criteria being looked at: the primary ones were named for that before "
    "the run.";

std::string certainty_note(const Comparison& comparison) {
  if (comparison.config.compare.seeds == 1) {
    return "One seed: there is no interval over seeds, so what needs one is inconclusive. Train several with "
           "--seeds 3.";
  }
  return fmt::format(
      "How sure: {} seeds, encodings compared within a seed, 95 % t-intervals. A criterion holds when the "
      "whole interval is on the side that was asked for, fails when the whole of it is on the other, and is "
      "inconclusive when it reaches over both. The thresholds were fixed before the run.",
      comparison.config.compare.seeds);
}

/// The numbers that a criterion is judged by, each with its own verdict, folded away. Empty when there is one
/// only, which stands beside the criterion already.
std::string single_numbers(const CriterionResult& criterion) {
  if (criterion.conditions.size() < 2) return {};
  std::string items;
  for (const CriterionCondition& condition : criterion.conditions) {
    const std::string word = word_of(condition.verdict, condition.found);
    const std::string number = condition.found.empty() ? condition.asked : condition.found;
    std::string beside;
    if (number != condition.asked && !condition.asked.empty()) beside = "; asked: " + condition.asked;
    if (!condition.reason.empty()) beside += "; " + condition.reason;
    items += fmt::format("<li><span class=\"verdict {}\">{}</span> {}{}</li>\n",
                         condition.verdict ? word : std::string("note"), word, html_escape(number),
                         html_escape(beside));
  }
  return html_folded(fmt::format("its {} numbers", criterion.conditions.size()),
                     "<ul class=\"numbers\">\n" + items + "</ul>\n");
}

/// One criterion as an item of the list: verdict, statement, what was asked and found, why, every number.
std::string criterion_item(const CriterionResult& criterion) {
  const std::string word = word_of(criterion.verdict, criterion.figure);
  const std::string look = criterion.verdict ? word : std::string("note");
  std::string text = fmt::format("<li><p class=\"verdict {}\">{}</p>\n<div><p><strong>{}</strong> {}{}</p>\n",
                                 look, word, html_escape(criterion.id), html_escape(criterion.statement),
                                 criterion.primary ? " <em>(primary)</em>" : "");
  std::string facts;
  if (!criterion.threshold.empty()) facts += fmt::format("Asked: {}. ", criterion.threshold);
  if (!criterion.figure.empty()) facts += fmt::format("Found: {}. ", criterion.figure);
  if (!criterion.reason.empty()) facts += criterion.reason + '.';
  if (!criterion.otherwise.empty())
    facts +=
        fmt::format("{}What to make of it: {}.", criterion.reason.empty() ? "" : " ", criterion.otherwise);
  if (!facts.empty()) text += html_note(facts);
  return text + single_numbers(criterion) + "</div></li>\n";
}

std::string criterion_list(const std::vector<CriterionResult>& criteria, bool measured) {
  std::string items;
  for (const CriterionResult& criterion : criteria) {
    if ((outcome_of(criterion) != Outcome::not_measured) == measured) items += criterion_item(criterion);
  }
  return items.empty() ? items : "<ul class=\"verdicts\">\n" + items + "</ul>\n";
}

}  // namespace

Section verdict_section(const ReportData& data) {
  Section section{"verdicts", "Verdicts", "Verdicts", {}};
  if (data.criteria.empty()) return section;
  section.body = html_paragraph(summary_text(data.criteria)) + criterion_list(data.criteria, true);
  if (const std::string others = criterion_list(data.criteria, false); !others.empty()) {
    section.body += html_folded(
        fmt::format("{} not measured here", count_of(data.criteria, Outcome::not_measured)), others);
  }
  section.body += html_note(fmt::format("{} {}", criteria_letters, several_note));
  if (const std::string few = few_blocks_text(data.criteria); !few.empty()) section.body += html_note(few);
  section.body += html_note(certainty_note(data.comparison));
  return section;
}

}  // namespace tapeline
