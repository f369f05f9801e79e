#include "experiments/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <regex>

#include "core/error.h"
#include "core/files.h"
#include "experiments/report/answer.h"
#include "experiments/report/figures.h"
#include "experiments/report/gnuplot.h"
#include "experiments/report/html.h"
#include "experiments/report/tables.h"
#include "experiments/report/variants.h"
#include "experiments/table.h"
#include "train/config_loader.h"

namespace tapeline {
namespace {

/// The lowest number of each column of the table of lengths is set in bold.
std::vector<std::string> best_of_columns(const ReportTable& table, const std::vector<Series>& all) {
  std::vector<std::string> best(table.labels);
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

/// A heading that may break behind the dots of a key and the comma, and nowhere in "stride 16".
std::string breakable(std::string text) {
  text = std::regex_replace(text, std::regex("\\."), ".<wbr>");
  return std::regex_replace(text, std::regex("stride "), "stride&nbsp;");
}

/// `id`: of the line above the table, which names it.
std::string html_table(const ReportTable& table, std::string_view id,
                       const std::vector<std::string>& best = {}) {
  std::string text = fmt::format(
      "<p class=\"title\" id=\"{0}\">{1}.</p>\n<div class=\"scroll\"><div><table "
      "aria-labelledby=\"{0}\">\n<thead><tr>",
      id, html_escape(table.title));
  for (const std::string& header : table.header) {
    text += fmt::format("<th scope=\"col\">{}</th>", breakable(html_escape(header)));
  }
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
  text += "</tbody></table></div></div>\n";
  text += "<p class=\"note\">";
  for (const std::string& note : table.notes) text += html_escape(note) + ' ';
  return text + "</p>\n";
}

std::string html_figure(const Figure& figure, const std::filesystem::path& folder, std::string_view caption) {
  const std::string svg = read_file(folder / "figures" / (figure.name + ".svg"));
  return fmt::format(
      "<figure>\n<div class=\"drawing\"><div>{}</div></div>\n<figcaption>{}</figcaption>\n</figure>\n",
      inline_svg(svg, figure), html_escape(caption));
}

std::string setting_text(const Comparison& comparison) {
  const Config& config = comparison.config;
  const auto values = [&](std::string_view key) { return setting_values(config, key); };
  const auto counted = [](const std::string& number, const char* what) {
    return fmt::format("{} {}{}", number, what, number == "1" ? "" : "s");
  };
  return fmt::format(
      "Each model: {}, width {}, {}; {} of {} {} at learning rate {}. Text: {} ({} {}). "
      "{}, {} thread{}.",
      counted(values("model.layers"), "layer"), values("model.width"), counted(values("model.heads"), "head"),
      counted(values("train.steps"), "step"), values("train.tokens_per_step"), token_unit(comparison),
      values("optimizer.lr"), comparison.text_source, number_text(comparison.text_tokens),
      token_unit(comparison),
      config.compare.seeds == 1 ? "One seed" : fmt::format("{} seeds", config.compare.seeds),
      comparison.threads, comparison.threads == 1 ? "" : "s");
}

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

std::string measuring_text(const Comparison& comparison) {
  const std::string unit = token_unit(comparison);
  const auto item = [](const std::string& text) { return "<li>" + html_escape(text) + "</li>\n"; };
  std::string text = "<h2>How it was measured</h2>\n<ul>\n";
  text +=
      item(fmt::format("All numbers are on the validation blocks, which no model was trained on, over the "
                       "same {} target {} at every length and for every {}; means are over {}.",
                       number_text(comparison.scored_tokens), unit, variant_word(comparison.config), unit));
  text += item(neighbours_text(comparison));
  text +=
      item(fmt::format("Non-overlapping: windows stand side by side, the j-th target of a window sees j "
                       "{} and nothing before. Short windows pay for their many targets without history, "
                       "so a small gain with length is no proof that the longer context is used.",
                       unit));
  text += item("Sliding: every window scores only its last targets, which then have full history.");
  text += item(pairing_text(comparison.config));
  text +=
      item("The weights after the last step are evaluated; none was chosen by its loss at a longer length.");
  text += item("No length is extrapolated in silence: an encoding without such positions is refused (n/a).");
  return text + "</ul>\n";
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
                    "lower is better." +
                        std::string(has_intervals(by_length)
                                        ? " Bars: 95 % intervals over seeds; the curves stand a little side "
                                          "by side so that the bars can be told apart."
                                        : ""));
    second_figure = html_figure(
        by_position, folder,
        "Loss at each position of the longest window that an encoding can be evaluated at "
        "(shorter ones are named; other targets stand at their positions, so compare the heights of "
        "curves of the same windows only), means over positions 1, 2, 3–4, 5–8 and so on" +
            std::string(comparison.config.compare.seeds > 1 ? " and over seeds." : ".") +
            (by_position.mark > 0 ? " Right of the mark no position was seen in training."
                                  : " Positions past a model's own trained length were not seen "
                                    "in training."));
  } catch (const GnuplotError& error) {
    outcome.figures_missing = error.what();
    first_figure = "<p class=\"note\">No figures: " + html_escape(error.what()) + "</p>\n";
    second_figure = first_figure;
  }

  std::string body = "<h1>tapeline compare: train short, test long</h1>\n<p class=\"answer\">" +
                     html_escape(answer_text(comparison, all)) + "</p>\n<p class=\"note\">" +
                     html_escape(setting_text(comparison)) + "</p>\n";
  if (const ReportTable variants = variants_table(comparison); !variants.rows.empty()) {
    body += fmt::format("<h2>{}</h2>\n",
                        comparison.config.compare.variants.empty() ? "Further evaluations" : "Variants") +
            html_table(variants, "variants");
  }
  body += "<h2>Loss against length</h2>\n" + first_figure;
  ReportTable lengths = length_table(comparison, all);
  lengths.notes.push_back("Bold: the lowest of a column, be its lead certain or not.");
  body += html_table(lengths, "lengths", best_of_columns(lengths, all)) +
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
  const std::size_t width = terminal_width();
  std::string text = terminal_text(length_table(comparison, all), width);
  if (const ReportTable sliding = sliding_table(comparison, all); !sliding.rows.empty()) {
    text += '\n' + terminal_text(sliding, width);
  }
  text += '\n';
  for (const std::string& line : wrapped(answer_text(comparison, all), width == 0 ? 100 : width)) {
    text += line + '\n';
  }
  return text;
}

}  // namespace tapeline
