#include "experiments/commands/program.h"

#include <fmt/format.h>

#include "experiments/commands/bench.h"
#include "experiments/commands/claims.h"
#include "experiments/commands/common.h"
#include "experiments/commands/compare.h"
#include "experiments/commands/completion.h"
#include "experiments/commands/doctor.h"
#include "experiments/commands/encodings.h"
#include "experiments/commands/evaluate.h"
#include "experiments/commands/generate.h"
#include "experiments/commands/inspect.h"
#include "experiments/commands/longrope.h"
#include "experiments/commands/manual.h"
#include "experiments/commands/prepare.h"
#include "experiments/commands/report.h"
#include "experiments/commands/train.h"

namespace tapeline {

Program tapeline_program() {
  return {.name = "tapeline",
          .version = TAPELINE_VERSION,
          .description = "Measures how far past its training length a Transformer still works.",
          .example = fmt::format("tapeline compare --encodings {} --text my.txt",
                                 example_encodings({"rope", "alibi"})),
          .commands = {compare_command(), report_command(), train_command(), evaluate_command(),
                       generate_command(), inspect_command(), longrope_command(), prepare_command(),
                       encodings_command(), claims_command(), bench_command(), doctor_command(),
                       completion_command(), manual_command()}};
}

}  // namespace tapeline
