#include "experiments/report/attention_internals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "experiments/report/figure_text.h"
#include "experiments/report/probe_series.h"

namespace tapeline {
namespace {

constexpr const char* attention_probe = "attention";

/// A quantity of the attention probe as tables have it.
struct AttentionQuantity {
  const char* name;    ///< in the record
  const char* called;  ///< in a heading
  int digits;
};
constexpr std::array<AttentionQuantity, 3> attention_quantities = {
    {{"normalized_entropy", "normalised entropy", 3},
     {"distance", "mean distance", 1},
     {"sink_mass", "share on the first 4 keys", 3}}};

Figure attention_figure(const Comparison& comparison, const std::vector<Series>& all, const char* quantity) {
  Figure figure;
  for (const Series& series : all) {
    Curve curve{curve_name(series, all), {}};
    for (const Index length : probe_lengths(comparison, attention_probe)) {
      const Estimate found =
          over_seeds(probe_results(comparison, series, attention_probe, length), mean_of(quantity));
      if (found.count > 0)
        curve.points.push_back({static_cast<double>(length), found.mean, found.half_width});
    }
    figure.curves.push_back(std::move(curve));
  }
  set_length_axis(figure, comparison, all);
  return figure;
}

/// Layers, or heads of one layer, that a probe looked at.
std::set<Index> probed(const std::vector<const ProbeResult*>& results, Index ProbeFigure::*what,
                       Index layer = -1) {
  std::set<Index> numbers;
  for (const ProbeResult* result : results) {
    for (const ProbeFigure& figure : result->figures) {
      if (figure.*what >= 0 && (layer < 0 || figure.layer == layer)) numbers.insert(figure.*what);
    }
  }
  return numbers;
}

/// The heads of a layer differ more than its mean tells: "0.41 (0.12–0.77)", lowest and highest head, each a
/// mean over seeds.
std::string layer_text(const std::vector<const ProbeResult*>& results, const AttentionQuantity& quantity,
                       Index layer) {
  const std::string mean = probe_text(results, mean_of(quantity.name, layer), quantity.digits);
  std::vector<double> by_head;
  for (const Index head : probed(results, &ProbeFigure::head, layer)) {
    const Estimate found = over_seeds(results, [&](const ProbeResult& result) -> std::optional<double> {
      for (const ProbeFigure& figure : result.figures) {
        if (figure.quantity == quantity.name && figure.layer == layer && figure.head == head &&
            std::isfinite(figure.value)) {
          return figure.value;
        }
      }
      return std::nullopt;
    });
    if (found.count > 0) by_head.push_back(found.mean);
  }
  if (by_head.size() < 2) return mean;
  const auto [lowest, highest] = std::ranges::minmax(by_head);
  return fmt::format("{} ({:.{}f}–{:.{}f})", mean, lowest, quantity.digits, highest, quantity.digits);
}

}  // namespace

Figure attention_entropy_figure(const Comparison& comparison, const std::vector<Series>& all) {
  Figure figure = attention_figure(comparison, all, "normalized_entropy");
  figure.name = "attention_entropy";
  figure.title = "Entropy of attention";
  figure.y_label = "entropy / log of the keys seen";
  figure.alternative =
      "Line chart of the normalised entropy of attention, 0 for one key and 1 for all alike, against the "
      "length of the window." +
      finding_text(figure) + ends_text(figure);
  return figure;
}

Figure attention_distance_figure(const Comparison& comparison, const std::vector<Series>& all) {
  Figure figure = attention_figure(comparison, all, "distance");
  figure.name = "attention_distance";
  figure.title = "Mean attended distance";
  figure.y_label = fmt::format("mean attended distance ({})", token_unit(comparison));
  figure.y_logarithmic = true;
  figure.alternative = fmt::format(
      "Line chart of how many {} back attention looks on average, against the length of the window, both "
      "axes logarithmic.{}{}",
      token_unit(comparison), finding_text(figure, 0), ends_text(figure, 0));
  return figure;
}

ReportTable attention_table(const Comparison& comparison, const std::vector<Series>& all) {
  ReportTable table = table_of_series(comparison, all);
  table.title =
      fmt::format("Where attention looks: normalised entropy, mean distance in {}, share on the first 4 keys",
                  token_unit(comparison));
  const std::vector<Index> lengths = probe_lengths(comparison, attention_probe);
  if (lengths.empty()) return table;
  // The ends tell it: the shortest length, as a rule the trained one, and the longest.
  std::vector<Index> ends = {lengths.front()};
  if (lengths.size() > 1) ends.push_back(lengths.back());
  for (const AttentionQuantity& quantity : attention_quantities) {
    for (const Index length : ends)
      table.header.push_back(fmt::format("{} at {}", quantity.called, number_text(length)));
  }
  for (const Series& series : all) {
    std::vector<std::string> row = row_label(series.name, series, all);
    for (const AttentionQuantity& quantity : attention_quantities) {
      for (const Index length : ends) {
        row.push_back(probe_text(probe_results(comparison, series, attention_probe, length),
                                 mean_of(quantity.name), quantity.digits));
      }
    }
    table.rows.push_back(std::move(row));
  }
  table.notes = {
      fmt::format("Means over layers, heads and {} rows, each the query of one {}.",
                  probe_count_text(comparison, attention_probe, "normalized_entropy"),
                  token_word(comparison)),
      "Entropy is over the logarithm of the number of keys that a row sees: 0 is one key, 1 all "
      "keys alike. Attention spread evenly would have entropy 1, look back half of what a row sees, "
      "and give the first keys no more than their share of them.",
      seeds_note(comparison)};
  return table;
}

std::vector<ReportTable> attention_layer_tables(const Comparison& comparison,
                                                const std::vector<Series>& all) {
  std::vector<ReportTable> tables;
  const std::vector<Index> lengths = probe_lengths(comparison, attention_probe);
  for (const AttentionQuantity& quantity : attention_quantities) {
    ReportTable table = table_of_series(comparison, all);
    table.title = fmt::format("By layer: {}, with the lowest and the highest head", quantity.called);
    table.header.push_back("layer");
    ++table.labels;
    for (const Index length : lengths)
      table.header.push_back(length_header(length, common_train_length(all)));
    for (const Series& series : all) {
      std::vector<std::vector<const ProbeResult*>> by_length;
      for (const Index length : lengths)
        by_length.push_back(probe_results(comparison, series, attention_probe, length));
      std::set<Index> layers;
      for (const auto& results : by_length) layers.merge(probed(results, &ProbeFigure::layer));
      for (const Index layer : layers) {
        std::vector<std::string> row = row_label(series.name, series, all);
        row.push_back(number_text(layer));
        for (const auto& results : by_length) row.push_back(layer_text(results, quantity, layer));
        table.rows.push_back(std::move(row));
      }
    }
    if (!table.rows.empty()) tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace tapeline
