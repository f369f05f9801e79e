#include "experiments/report/probe_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "experiments/report/tables.h"

namespace tapeline {

ProbeNumber mean_of(std::string quantity, Index layer) {
  return [quantity = std::move(quantity), layer](const ProbeResult& result) -> std::optional<double> {
    double sum = 0, count = 0;
    for (const ProbeFigure& figure : result.figures) {
      if (figure.quantity != quantity || (layer >= 0 && figure.layer != layer)) continue;
      sum += figure.value;
      ++count;
    }
    if (count == 0 || !std::isfinite(sum)) return std::nullopt;
    return sum / count;
  };
}

ProbeNumber at_span(std::string quantity, Index span) {
  return [quantity = std::move(quantity), span](const ProbeResult& result) -> std::optional<double> {
    for (const ProbeFigure& figure : result.figures) {
      if (figure.quantity == quantity && figure.span == span && std::isfinite(figure.value))
        return figure.value;
    }
    return std::nullopt;
  };
}

bool was_probed(const Comparison& comparison, std::string_view probe) {
  return !probe_lengths(comparison, probe).empty();
}

std::vector<Index> probe_lengths(const Comparison& comparison, std::string_view probe) {
  std::set<Index> lengths;
  for (const FinishedCell& cell : comparison.cells) {
    for (const RecordedProbe& recorded : cell.record.probes) {
      if (recorded.result.probe == probe) lengths.insert(recorded.result.length);
    }
  }
  return {lengths.begin(), lengths.end()};
}

std::vector<const ProbeResult*> probe_results(const Comparison& comparison, const Series& series,
                                              std::string_view probe, Index length) {
  std::vector<const ProbeResult*> results;
  for (const FinishedCell& cell : comparison.cells) {
    if (cell.variant != series.variant) continue;
    for (const RecordedProbe& recorded : cell.record.probes) {
      if (recorded.evaluation == series.evaluation && recorded.result.probe == probe &&
          recorded.result.length == length) {
        results.push_back(&recorded.result);
      }
    }
  }
  return results;
}

std::vector<Index> probe_spans(const std::vector<const ProbeResult*>& results, std::string_view quantity) {
  std::set<Index> spans;
  for (const ProbeResult* result : results) {
    for (const ProbeFigure& figure : result->figures) {
      if (figure.quantity == quantity) spans.insert(figure.span);
    }
  }
  return {spans.begin(), spans.end()};
}

std::string probe_count_text(const Comparison& comparison, std::string_view probe,
                             std::string_view quantity) {
  std::set<Index> counts;
  for (const FinishedCell& cell : comparison.cells) {
    for (const RecordedProbe& recorded : cell.record.probes) {
      if (recorded.result.probe != probe || recorded.result.status != "ok") continue;
      for (const ProbeFigure& figure : recorded.result.figures) {
        if (figure.quantity == quantity) counts.insert(figure.tokens);
      }
    }
  }
  if (counts.empty()) return "0";
  const std::string fewest = number_text(*counts.begin()), most = number_text(*counts.rbegin());
  return fewest == most ? most : fmt::format("{} to {}", fewest, most);
}

Estimate over_seeds(const std::vector<const ProbeResult*>& results, const ProbeNumber& number) {
  std::vector<double> values;
  for (const ProbeResult* result : results) {
    if (result->status != "ok") continue;
    if (const std::optional<double> value = number(*result)) values.push_back(*value);
  }
  return estimate(values);
}

std::string probe_text(const std::vector<const ProbeResult*>& results, const ProbeNumber& number,
                       int digits) {
  if (const Estimate found = over_seeds(results, number); found.count > 0)
    return interval_text(found, digits);
  const auto any = [&](std::string_view status) {
    return std::ranges::any_of(results, [&](const ProbeResult* result) { return result->status == status; });
  };
  return any("refused") ? "n/a" : any("diverged") ? "diverged" : "–";
}

}  // namespace tapeline
