#include "experiments/bench/attention_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "experiments/bench/text.h"
#include "experiments/output.h"

namespace tapeline {

std::string attention_json(const AttentionSpeeds& speeds) {
  nlohmann::ordered_json json = {{"threads", speeds.threads},
                                 {"repeats", speeds.repeats},
                                 {"encoding", speeds.encoding},
                                 {"heads", speeds.heads},
                                 {"key_value_heads", speeds.key_value_heads},
                                 {"head_width", speeds.head_width},
                                 {"best_gemm", speeds.best_gemm},
                                 {"best_gemm_gflops", speeds.best_gemm_gflops},
                                 {"lengths", nlohmann::ordered_json::array()}};
  for (const AttentionSpeed& speed : speeds.lengths) {
    json["lengths"].push_back({{"length", speed.length},
                               {"sequences", speed.sequences},
                               {"repeats", speed.repeats},
                               {"seconds", speed.seconds},
                               {"forward_seconds", speed.forward_seconds},
                               {"backward_seconds", speed.backward_seconds},
                               {"gflops", speed.gflops},
                               {"forward_gflops", speed.forward_gflops},
                               {"backward_gflops", speed.backward_gflops},
                               {"floor_seconds", number_or_null(speed.floor_seconds())},
                               {"floor_forward_seconds", number_or_null(speed.floor_forward_seconds)},
                               {"floor_backward_seconds", number_or_null(speed.floor_backward_seconds)},
                               {"floor_ratio", number_or_null(speed.floor_ratio())},
                               {"best_gemm_ratio", speed.gemm_ratio}});
  }
  return printed_json(json);
}

std::string attention_text(const AttentionSpeeds& speeds, std::size_t width) {
  Table table;
  table.column("length").column("sequences").column("repeats").column("forward ms").column("backward ms");
  table.column("GFLOP/s forward").column("backward").column("both").column("floor ms").column("op / floor");
  table.column("both / best sgemm");
  const auto rate = [](double gflops) { return fmt::format("{:.1f}", gflops); };
  for (const AttentionSpeed& speed : speeds.lengths) {
    table.row({fmt::format("{}", speed.length), fmt::format("{}", speed.sequences),
               fmt::format("{}", speed.repeats), milliseconds_text(speed.forward_seconds),
               milliseconds_text(speed.backward_seconds), rate(speed.forward_gflops),
               rate(speed.backward_gflops), rate(speed.gflops), milliseconds_text(speed.floor_seconds()),
               ratio_text(speed.floor_ratio()), fmt::format("{:.2f}", speed.gemm_ratio)});
  }
  return table.text(width) +
         fmt::format(
             "{} heads of width {}, causal, {} positions, {}. GFLOP/s over the pairs that\n"
             "are seen: two products forward, five backward. Best sgemm of this run:\n"
             "{:.1f} GFLOP/s ({}).\n",
             speeds.heads, speeds.head_width, speeds.encoding, threads_text(speeds.threads),
             speeds.best_gemm_gflops, speeds.best_gemm);
}

}  // namespace tapeline
