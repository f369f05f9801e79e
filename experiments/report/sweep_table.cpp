#include "experiments/report/sweep_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <set>

#include "experiments/quantity.h"
#include "experiments/report/variants.h"
#include "train/progress.h"

namespace tapeline {
namespace {

/// "2.275 (0.001)": the loss in bits and the rate that it is of.
std::string sweep_text(const SweepPoint& point) {
  if (point.status != "ok") return point.status;
  return fmt::format("{:.3f} ({:g})", point.nll / std::numbers::ln2, point.lr);
}

}  // namespace

ReportTable sweep_table(const Comparison& comparison) {
  ReportTable table;
  table.title = fmt::format("Bits per {} at the trained length by learning rate (in brackets), one seed",
                            token_word(comparison));
  table.header = {variant_word(comparison.config)};
  std::set<double> multiples;
  std::vector<std::string> variants;
  for (const SweepPoint& point : comparison.sweep) {
    multiples.insert(point.multiple);
    if (std::ranges::find(variants, point.variant) == variants.end()) variants.push_back(point.variant);
  }
  for (const double multiple : multiples) table.header.push_back(fmt::format("rate × {:g}", multiple));
  table.header.insert(table.header.end(), {"taken", "work", "time"});
  for (const std::string& variant : variants) {
    std::vector<std::string> row = {variant};
    std::string taken = "–";
    double operations = 0, seconds = 0;
    for (const double multiple : multiples) {
      const auto point = std::ranges::find_if(comparison.sweep, [&](const SweepPoint& one) {
        return one.variant == variant && one.multiple == multiple;
      });
      if (point == comparison.sweep.end()) {
        row.push_back("–");
        continue;
      }
      row.push_back(sweep_text(*point));
      if (point->chosen) taken = fmt::format("{:g}", point->lr);
      operations += point->training_flop;
      if (point->tokens_per_second > 0)
        seconds += static_cast<double>(point->trained_tokens) / point->tokens_per_second;
    }
    row.push_back(taken);
    row.push_back(quantity(operations, "FLOP"));
    row.push_back(seconds > 0 ? duration_text(seconds) : std::string("–"));
    table.rows.push_back(std::move(row));
  }
  table.notes = {
      "Each was trained once with every rate; the one with the lowest loss at the trained length was taken "
      "for all seeds. No loss at a longer length has a say. Work and time are of the whole sweep; the time "
      "is as of the machine that it ran on."};
  return table;
}

}  // namespace tapeline
