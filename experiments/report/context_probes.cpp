#include "experiments/report/context_probes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "experiments/report/figure_text.h"
#include "experiments/report/probe_series.h"
#include "experiments/report/variants.h"

namespace tapeline {
namespace {

bool of_bytes(const Comparison& comparison) { return comparison.config.data.tokenizer == "bytes"; }

std::string bits_unit(const Comparison& comparison) {
  return of_bytes(comparison) ? "bits per byte" : "bits per token";
}

/// Nats a token as bits a token, which are bits a byte where a token is one.
std::optional<double> bits(std::optional<double> nats) {
  if (nats) *nats /= std::numbers::ln2;
  return nats;
}

ProbeNumber bits_at_span(const std::string& quantity, Index span) {
  return [number = at_span(quantity, span)](const ProbeResult& result) { return bits(number(result)); };
}

/// By seed, the loss with the limit minus the loss without, non-overlapping over the same targets.
Estimate limit_cost(const Comparison& comparison, const Series& series, Index length) {
  std::vector<double> costs;
  for (const FinishedCell& cell : comparison.cells) {
    if (cell.variant != series.variant) continue;
    const EvaluationResult* free =
        cell.record.find(series.evaluation, {Protocol::nonoverlapping, length, length, false});
    for (const RecordedProbe& recorded : cell.record.probes) {
      const ProbeResult& limited = recorded.result;
      if (recorded.evaluation != series.evaluation || limited.probe != "hard_window" ||
          limited.length != length || limited.status != "ok" || free == nullptr || free->status != "ok") {
        continue;
      }
      if (const auto value = mean_of("bits_per_byte")(limited)) costs.push_back(*value - free->bits_per_byte);
    }
  }
  return estimate(costs);
}

/// One curve a series over the spans of a quantity, at the longest length where it was measured; curves of
/// shorter windows than the longest say so.
void add_span_curves(Figure& figure, const Comparison& comparison, const std::vector<Series>& all,
                     const std::string& probe, const std::string& quantity, Index least_span) {
  const std::vector<Index> lengths = probe_lengths(comparison, probe);
  for (const Series& series : all) {
    Curve curve{curve_name(series, all), {}};
    for (auto length = lengths.rbegin(); length != lengths.rend() && curve.points.empty(); ++length) {
      const std::vector<const ProbeResult*> results = probe_results(comparison, series, probe, *length);
      for (const Index span : probe_spans(results, quantity)) {
        const Estimate found = over_seeds(results, bits_at_span(quantity, span));
        if (span >= least_span && found.count > 0)
          curve.points.push_back({static_cast<double>(span), found.mean, found.half_width});
      }
      if (!curve.points.empty() && *length != lengths.back())
        curve.name += fmt::format(", windows of {}", number_text(*length));
    }
    figure.curves.push_back(std::move(curve));
  }
  set_length_axis(figure, comparison, all);
  for (Tick& tick : figure.ticks) tick.below.clear();
}

}  // namespace

Figure hard_window_figure(const Comparison& comparison, const std::vector<Series>& all) {
  Figure figure;
  figure.name = "hard_window";
  figure.title = "With the last keys alone";
  figure.y_label = "bits per byte";
  for (const Series& series : all) {
    Curve limited{"only the last L keys", {}, curve_name(series, all)};
    for (const Index length : probe_lengths(comparison, "hard_window")) {
      const Estimate found =
          over_seeds(probe_results(comparison, series, "hard_window", length), mean_of("bits_per_byte"));
      if (found.count > 0)
        limited.points.push_back({static_cast<double>(length), found.mean, found.half_width});
    }
    if (limited.points.empty()) continue;
    Curve free{"all keys", {}, limited.panel};
    for (const Index length : table_lengths(all)) {
      const SeriesPoint* point = series.at(length);
      if (point == nullptr || point->bits_per_byte.count == 0) continue;
      free.points.push_back(
          {static_cast<double>(length), point->bits_per_byte.mean, point->bits_per_byte.half_width});
    }
    figure.curves.push_back(std::move(free));
    figure.curves.push_back(std::move(limited));
  }
  set_length_axis(figure, comparison, all);
  figure.alternative = fmt::format(
      "Small line charts, one for each {}: bits per byte against the length of the window, with all keys "
      "and with the last L keys alone, L the trained length.{}{}",
      variant_word(comparison.config), finding_text(figure), ends_text(figure));
  return figure;
}

ReportTable hard_window_table(const Comparison& comparison, const std::vector<Series>& all) {
  ReportTable table = table_of_series(comparison, all);
  table.title = "What it costs to see the last L keys alone, L the trained length, in bits per byte";
  const std::vector<Index> lengths = probe_lengths(comparison, "hard_window");
  for (const Index length : lengths) table.header.push_back(length_header(length, common_train_length(all)));
  for (const Series& series : all) {
    if (lengths.empty()) break;
    std::vector<std::string> row = row_label(series.name, series, all);
    for (const Index length : lengths) {
      const Estimate cost = limit_cost(comparison, series, length);
      row.push_back(cost.count > 0 ? interval_text(cost, 3)
                                   : probe_text(probe_results(comparison, series, "hard_window", length),
                                                mean_of("bits_per_byte"), 3));
    }
    table.rows.push_back(std::move(row));
  }
  table.notes = {
      fmt::format("Over {} scored targets.", probe_count_text(comparison, "hard_window", "bits_per_byte")),
      "Above 0: keys farther back than L are of use. About 0: they are not used, only not in the way. Below "
      "0: they do harm. Some models need the very first keys whatever they say, and lose with the limit for "
      "that.",
      seeds_note(comparison)};
  return table;
}

Figure history_figure(const Comparison& comparison, const std::vector<Series>& all) {
  Figure figure;
  figure.name = "loss_by_history";
  figure.title = "Loss by history";
  add_span_curves(figure, comparison, all, "history", "nll", 1);
  figure.x_label = fmt::format("history that the model is given ({})", token_unit(comparison));
  figure.y_label = bits_unit(comparison);
  figure.alternative =
      fmt::format("Line chart of {} of the same targets against how much history stands before them.{}{}",
                  figure.y_label, finding_text(figure), ends_text(figure));
  return figure;
}

ReportTable effective_context_table(const Comparison& comparison, const std::vector<Series>& all) {
  ReportTable table = table_of_series(comparison, all);
  table.title = fmt::format("Effective context in {}, by length of the window", token_unit(comparison));
  const std::vector<Index> lengths = probe_lengths(comparison, "history");
  for (const Index length : lengths) table.header.push_back(length_header(length, common_train_length(all)));
  for (const Series& series : all) {
    if (lengths.empty()) break;
    std::vector<std::string> row = row_label(series.name, series, all);
    for (const Index length : lengths) {
      const std::vector<const ProbeResult*> results = probe_results(comparison, series, "history", length);
      // Steps of a factor two: the lowest and highest of the seeds say more than a mean.
      std::vector<double> found;
      for (const ProbeResult* result : results) {
        if (const auto context = mean_of("effective_context")(*result); context && result->status == "ok")
          found.push_back(*context);
      }
      if (found.empty()) {
        row.push_back(probe_text(results, mean_of("effective_context"), 0));
        continue;
      }
      const auto [least, most] = std::ranges::minmax(found);
      const auto whole = [](double value) { return number_text(std::llround(value)); };
      row.push_back(least == most ? whole(least) : fmt::format("{} to {}", whole(least), whole(most)));
    }
    table.rows.push_back(std::move(row));
  }
  table.notes = {
      fmt::format("Over {} targets.", probe_count_text(comparison, "history", "effective_context")),
      "The least history whose loss is within 0.01 nats per byte of the loss with the whole window; lowest "
      "and highest seed. A model that longer history only harms has the least of all."};
  return table;
}

Figure shuffle_figure(const Comparison& comparison, const std::vector<Series>& all) {
  Figure figure;
  figure.name = "shuffled_history";
  figure.title = "Loss with shuffled history";
  // With the whole history shuffled (0 in order) the last token is gone too: no point of a logarithmic axis.
  add_span_curves(figure, comparison, all, "shuffle", "delta_nll", 1);
  figure.x_label = fmt::format("last {} that stay in order", token_unit(comparison));
  figure.y_label = "increase, " + bits_unit(comparison);
  figure.alternative = fmt::format(
      "Line chart of how much the loss rises, in {}, when the history farther back than so many {} is "
      "shuffled.{}{}",
      bits_unit(comparison), token_unit(comparison), finding_text(figure, 3), ends_text(figure, 3));
  return figure;
}

ReportTable in_context_table(const Comparison& comparison, const std::vector<Series>& all) {
  ReportTable table = table_of_series(comparison, all);
  table.title = fmt::format("In-context score by length of the window, in {}", bits_unit(comparison));
  const std::vector<Index> lengths = probe_lengths(comparison, "in_context");
  for (const Index length : lengths) table.header.push_back(length_header(length, common_train_length(all)));
  for (const Series& series : all) {
    if (lengths.empty()) break;
    std::vector<std::string> row = row_label(series.name, series, all);
    for (const Index length : lengths) {
      row.push_back(
          probe_text(probe_results(comparison, series, "in_context", length), bits_at_span("score", 0), 3));
    }
    table.rows.push_back(std::move(row));
  }
  table.notes = {
      fmt::format("Over {} targets in all, about half of them early and half late.",
                  probe_count_text(comparison, "in_context", "score")),
      "The loss around nine tenths of the window minus the loss around one tenth. Below 0: the model "
      "foretells late targets better, so it uses what it has read; above: length harms it.",
      seeds_note(comparison)};
  return table;
}

}  // namespace tapeline
