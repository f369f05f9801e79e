#include "experiments/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/files.h"
#include "experiments/compare/speeds.h"
#include "experiments/report/answer.h"
#include "experiments/report/figures.h"
#include "experiments/report/html.h"
#include "experiments/report/html_parts.h"
#include "experiments/report/missing_cells.h"
#include "experiments/report/sections/section.h"
#include "experiments/report/tables.h"
#include "experiments/report/variants.h"
#include "experiments/table.h"
#include "train/signals.h"

namespace tapeline {
namespace {

/// What the models are, in a line or two.
std::string setting_text(const Comparison& comparison) {
  const auto values = [&](std::string_view key) { return setting_values(comparison.config, key); };
  const auto with_noun = [](const std::string& number, const char* what) {
    return fmt::format("{} {}{}", number, what, number == "1" ? "" : "s");
  };
  // A comparison of before these were kept does not tell them.
  const std::string size =
      comparison.text_tokens > 0
          ? fmt::format(" ({} {})", number_text(comparison.text_tokens), token_unit(comparison))
          : std::string();
  const std::set<int> known = trained_on(comparison).threads;
  const std::string threads = known.size() == 1 && *known.begin() > 0
                                  ? ", " + with_noun(number_text(*known.begin()), "thread")
                                  : std::string();
  const std::string rate = comparison.sweep.empty()
                               ? "learning rate " + values("optimizer.lr")
                               : std::string("the learning rate that did best of those tried");
  return fmt::format(
      "Each model: {}, width {}, {}; {} of {} {} at {}. Text: {}{}. {}{}.",
      with_noun(values("model.layers"), "layer"), values("model.width"),
      with_noun(values("model.heads"), "head"), with_noun(values("train.steps"), "step"),
      values("train.tokens_per_step"), token_unit(comparison), rate, comparison.text_source, size,
      comparison.config.compare.seeds == 1 ? "One seed"
                                           : fmt::format("{} seeds", comparison.config.compare.seeds),
      threads);
}

/// What a reader who has a minute reads: the answer in a sentence and in a figure.
std::string answer_part(const ReportData& data, FigureSheet& figures) {
  const Comparison& comparison = data.comparison;
  const auto [headline, details] = answer(comparison, data.all);
  std::string text;
  if (const std::string missing = missing_text(comparison); !missing.empty())
    text += fmt::format("<p class=\"missing\">{}</p>\n", html_escape(missing));
  text += fmt::format("<p class=\"answer\" id=\"answer\" tabindex=\"-1\">{}</p>\n", html_escape(headline));
  if (!details.empty()) text += html_paragraph(details);
  const Figure figure = loss_by_length(comparison, data.all);
  text += figures.add(
      figure,
      fmt::format(
          "Bits per byte against the length of the evaluated window, non-overlapping windows, over {} "
          "scored {}; lower is better.{}",
          number_text(comparison.scored_tokens), token_unit(comparison),
          has_intervals(figure) ? " Bars: 95 % intervals over seeds; the curves stand a little side by "
                                  "side so that the bars can be told apart."
                                : ""));
  return text + html_note(setting_text(comparison));
}

/// The line of contents and all parts below it, those with something to tell.
std::string parts_text(const std::string& answer, const std::vector<Section>& sections) {
  std::string contents, bodies;
  for (const Section& section : sections) {
    if (section.body.empty()) continue;
    contents += fmt::format("<a href=\"#{}\">{}</a>\n", section.id, html_escape(section.name));
    bodies += fmt::format("<section aria-labelledby=\"{0}\">\n<h2 id=\"{0}\">{1}</h2>\n{2}</section>\n",
                          section.id, html_escape(section.heading), section.body);
  }
  return fmt::format("<nav aria-label=\"Contents\">\n{}</nav>\n{}{}", contents, answer, bodies);
}

}  // namespace

ReportOutcome write_report(const Comparison& comparison, const std::filesystem::path& folder) {
  const std::vector<ResultRow> rows = result_rows(comparison.cells);
  const ReportData data{comparison, rows, summarize(rows), judge(comparison), folder};
  std::filesystem::create_directories(folder);  // where nothing can be drawn nothing else makes it
  FigureSheet figures(folder / "figures");
  const std::string first = answer_part(data, figures);
  const std::vector<Section> sections = {encodings_section(data),
                                         variants_section(data),
                                         length_section(data),
                                         position_section(data, figures),
                                         early_token_section(data, figures),
                                         verdict_section(data),
                                         attention_section(data, figures),
                                         probe_section(data, figures),
                                         cost_section(data),
                                         sweep_section(data),
                                         method_section(data),
                                         reproduction_section(data)};
  const std::string title = "tapeline compare: train short, test long";
  const ReportOutcome outcome{folder / "report.html", figures.missing(), figures.drawn(), data.criteria};
  stop_if_signalled();  // the signal may have stopped the last drawing
  write_file(outcome.page,
             html_page(title, fmt::format("<h1>{}</h1>\n{}", title, parts_text(first, sections))));
  return outcome;
}

std::string terminal_report(const Comparison& comparison) {
  const std::vector<Series> all = summarize(result_rows(comparison.cells));
  const std::size_t width = terminal_width();
  std::string text;
  if (!table_lengths(all).empty()) text += terminal_text(length_table(comparison, all), width);
  if (const ReportTable sliding = sliding_table(comparison, all); !sliding.rows.empty()) {
    text += (text.empty() ? "" : "\n") + terminal_text(sliding, width);
  }
  text += '\n';
  for (const std::string& line : wrapped(answer_text(comparison, all), width == 0 ? 100 : width)) {
    text += line + '\n';
  }
  return text;
}

}  // namespace tapeline
