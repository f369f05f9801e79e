#include "experiments/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/error.h"
#include "core/files.h"
#include "experiments/report/answer.h"
#include "experiments/report/figures.h"
#include "experiments/report/gnuplot.h"
#include "experiments/report/html.h"
#include "experiments/report/tables.h"
#include "experiments/table.h"
#include "train/config_loader.h"

namespace tapeline {
namespace {

/// The lowest number of each column of the table of lengths is set in bold.
std::vector<std::string> best_of_columns(const std::vector<Series>& all) {
  std::vector<std::string> best = {""};
  for (const Index length : table_lengths(all)) {
    const SeriesPoint* lowest = nullptr;
    for (const Series& series : all) {
      const SeriesPoint* point = series.at(length);
      if (point == nullptr || point->bits_per_byte.count == 0) continue;
      if (lowest == nullptr || point->bits_per_byte.mean < lowest->bits_per_byte.mean) lowest = point;
    }
    best.push_back(lowest == nullptr ? std::string() : bits_text(lowest));
  }
  return best;
}

/// `id`: of the line above the table, which names it.
std::string html_table(const ReportTable& table, std::string_view id,
                       const std::vector<std::string>& best = {}) {
  std::string text = fmt::format(
      "<p class=\"title\" id=\"{0}\">{1}.</p>\n<div class=\"scroll\"><table "
      "aria-labelledby=\"{0}\">\n<thead><tr>",
      id, html_escape(table.title));
  for (const std::string& header : table.header) text += "<th scope=\"col\">" + html_escape(header) + "</th>";
  text += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : table.rows) {
    text += "<tr><th scope=\"row\">" + html_escape(row.front()) + "</th>";
    for (std::size_t c = 1; c < row.size(); ++c) {
      const bool none = row[c] == "n/a" || row[c] == "diverged" || row[c] == "–";
      const bool first = c < best.size() && !none && row[c] == best[c];
      text += fmt::format("<td{}>{}</td>",
                          none    ? " class=\"none\""
                          : first ? " class=\"best\""
                                  : "",
                          html_escape(row[c]));
    }
    text += "</tr>\n";
  }
  text += "</tbody></table></div>\n";
  text += "<p class=\"note\">";
  for (const std::string& note : table.notes) text += html_escape(note) + ' ';
  return text + "</p>\n";
}

std::string html_figure(const Figure& figure, const std::filesystem::path& folder, std::string_view caption) {
  const std::string svg = read_file(folder / "figures" / (figure.name + ".svg"));
  return fmt::format("<figure>\n<div class=\"drawing\">{}</div>\n<figcaption>{}</figcaption>\n</figure>\n",
                     inline_svg(svg, figure), html_escape(caption));
}

std::string setting_text(const Comparison& comparison) {
  const Config& config = comparison.config;
  return fmt::format(
      "Each model: {} layers, width {}, {} heads; {} steps of {} {} at learning rate {}. Text: {} ({} {}). "
      "{}, {} thread{}.",
      config.model.layers, config.model.width, config.model.heads, number_text(config.train.steps),
      number_text(config.train.tokens_per_step), token_unit(comparison), config.optimizer.lr,
      comparison.text_source, number_text(comparison.text_tokens), token_unit(comparison),
      config.compare.seeds == 1 ? "One seed" : fmt::format("{} seeds", config.compare.seeds),
      comparison.threads, comparison.threads == 1 ? "" : "s");
}

std::string measuring_text(const Comparison& comparison) {
  const std::string unit = token_unit(comparison);
  return fmt::format(
      "<h2>How it was measured</h2>\n<ul>\n"
      "<li>All numbers are on the validation blocks, which no model was trained on, over the same {} target "
      "{} at "
      "every length and for every encoding; means are over tokens.</li>\n"
      "<li>Non-overlapping: windows stand side by side, the j-th target of a window sees j {} and nothing "
      "before. "
      "Short windows pay for their many targets without history, so a small gain with length is no proof "
      "that the "
      "longer context is used.</li>\n"
      "<li>Sliding: every window scores only its last targets, which then have full history.</li>\n"
      "<li>Encodings are compared seed by seed: the same initial weights where they share them, the same "
      "batches "
      "in the same order. The weights after the last step are evaluated; none was chosen by its loss at a "
      "longer "
      "length.</li>\n"
      "<li>No length is extrapolated in silence: an encoding without such positions is refused "
      "(n/a).</li>\n</ul>\n",
      number_text(comparison.scored_tokens), unit, unit);
}

std::string reproduction_text(const Comparison& comparison) {
  return fmt::format(
      "<h2>How to reproduce</h2>\n<pre>{}</pre>\n<p class=\"note\">The same command with the same number of "
      "threads gives the same results.csv, speeds excepted. The configuration below, saved as compare.toml, "
      "does "
      "the same as <code>tapeline compare compare.toml</code>. Text: {}, SHA-256 of its tokens {}.</p>\n"
      "<details><summary>All settings</summary>\n<pre>{}</pre></details>\n",
      html_escape(comparison.command), html_escape(comparison.text_source), comparison.text_digest,
      html_escape(resolved_text(comparison.config)));
}

}  // namespace

ReportOutcome write_report(const Comparison& comparison, const std::filesystem::path& folder) {
  const std::vector<Series> all = summarize(result_rows(comparison.cells));
  const Figure by_length = loss_by_length(comparison, all), by_position = loss_by_position(comparison, all);
  ReportOutcome outcome{folder / "report.html", {}};
  std::string first_figure, second_figure;
  try {
    draw_figure(by_length, folder / "figures");
    draw_figure(by_position, folder / "figures");
    first_figure =
        html_figure(by_length, folder,
                    "Bits per byte against the length of the evaluated window, non-overlapping windows; "
                    "lower is better. Bars: 95 % intervals over seeds, where there are several.");
    second_figure =
        html_figure(by_position, folder,
                    "Loss at each position of the longest window that an encoding can be evaluated at, "
                    "means over positions 1, 2, 3–4, 5–8 and so on. Right of the mark no position was "
                    "seen in training.");
  } catch (const GnuplotError& error) {
    outcome.figures_missing = error.what();
    first_figure = "<p class=\"note\">No figures: " + html_escape(error.what()) + "</p>\n";
    second_figure = first_figure;
  }

  std::string body = "<h1>tapeline compare: train short, test long</h1>\n<p class=\"answer\">" +
                     html_escape(answer_text(comparison, all)) + "</p>\n<p class=\"note\">" +
                     html_escape(setting_text(comparison)) + "</p>\n";
  body += "<h2>Loss against length</h2>\n" + first_figure;
  body += html_table(length_table(comparison, all), "lengths", best_of_columns(all)) +
          html_table(ratio_table(comparison, all), "ratios");
  body += "<h2>Loss by position</h2>\n" + second_figure;
  if (const ReportTable sliding = sliding_table(comparison, all); !sliding.rows.empty()) {
    body += "<h2>With full history</h2>\n" + html_table(sliding, "sliding");
  }
  body += "<h2>Training</h2>\n" + html_table(training_table(comparison), "training");
  body += measuring_text(comparison) + reproduction_text(comparison);
  write_file(outcome.page, html_page("tapeline compare: train short, test long", body));
  return outcome;
}

std::string terminal_report(const Comparison& comparison) {
  const std::vector<Series> all = summarize(result_rows(comparison.cells));
  std::string text = terminal_text(length_table(comparison, all));
  if (const ReportTable sliding = sliding_table(comparison, all); !sliding.rows.empty()) {
    text += '\n' + terminal_text(sliding);
  }
  text += '\n';
  for (const std::string& line :
       wrapped(answer_text(comparison, all), terminal_width() == 0 ? 100 : terminal_width())) {
    text += line + '\n';
  }
  return text;
}

}  // namespace tapeline
