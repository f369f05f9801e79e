#include "experiments/bench/scaling_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/counted.h"
#include "experiments/bench/step_text.h"
#include "experiments/bench/text.h"
#include "experiments/output.h"
#include "experiments/table.h"
#include "train/progress.h"

namespace tapeline {

std::string scaling_json(const ThreadScaling& scaling) {
  return printed_json(nlohmann::ordered_json{{"threads", scaling.all.threads},
                                             {"speedup", scaling.speedup},
                                             {"floor_speedup", number_or_null(scaling.floor_speedup)},
                                             {"share", number_or_null(scaling.share())},
                                             {"one", step_object(scaling.one)},
                                             {"all", step_object(scaling.all)}});
}

std::string scaling_text(const ThreadScaling& scaling, std::size_t width) {
  Table table;
  table.column("threads").column("ms a step").column("tokens/s").column("floor ms").column("step / floor");
  for (const StepSpeed* speed : {&scaling.one, &scaling.all}) {
    table.row({fmt::format("{}", speed->threads), milliseconds_text(speed->step_seconds),
               short_number(speed->tokens_per_second), milliseconds_text(speed->floor_seconds),
               ratio_text(speed->gemm_floor_ratio)});
  }
  std::string text = table.text(width);
  text += fmt::format("A step of {}, medians of {}, one repeat of each in turn.\n",
                      counted(scaling.one.tokens, "token"), scaling.one.repeats);
  text += fmt::format("{} make a step {:.2f} times as fast", counted(scaling.all.threads, "thread"),
                      scaling.speedup);
  if (scaling.floor_speedup)
    text += fmt::format(", its products alone {:.2f} times: {:.2f} of that", *scaling.floor_speedup,
                        *scaling.share());
  return text + ".\n";
}

}  // namespace tapeline
