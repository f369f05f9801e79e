#include "experiments/bench/evaluate_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "experiments/bench/text.h"
#include "experiments/output.h"
#include "train/progress.h"

namespace tapeline {

std::string window_speeds_json(const EvaluationSpeed& speed) {
  nlohmann::ordered_json json = {
      {"threads", speed.threads}, {"repeats", speed.repeats}, {"lengths", nlohmann::ordered_json::array()}};
  for (const WindowSpeed& window : speed.lengths) {
    json["lengths"].push_back({{"length", window.length},
                               {"seconds", window.seconds},
                               {"tokens_per_second", window.tokens_per_second},
                               {"gflops", window.gflops},
                               {"floor_seconds", number_or_null(window.floor_seconds)},
                               {"floor_ratio", number_or_null(window.floor_ratio)},
                               {"peak_bytes", window.peak_bytes}});
  }
  return printed_json(json);
}

std::string window_speeds_text(const EvaluationSpeed& speed, std::size_t width) {
  Table table;
  table.column("length").column("ms").column("tokens/s").column("GFLOP/s").column("floor ms");
  table.column("window / floor").column("memory MB");
  for (const WindowSpeed& window : speed.lengths) {
    table.row({fmt::format("{}", window.length), milliseconds_text(window.seconds),
               short_number(window.tokens_per_second), fmt::format("{:.1f}", window.gflops),
               milliseconds_text(window.floor_seconds), ratio_text(window.floor_ratio),
               fmt::format("{:.1f}", window.peak_bytes / 1e6)});
  }
  return table.text(width) + fmt::format(
                                 "One window without gradients over the key/value cache, medians of {}, {}.\n"
                                 "Floor: its products alone. Memory: weights, cache, activations.\n",
                                 speed.repeats, threads_text(speed.threads));
}

}  // namespace tapeline
