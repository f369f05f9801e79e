#include <doctest/doctest.h>

#include "core/allocation_counter.h"
#include "tests/layers/tiny_model.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

struct Steps {
  explicit Steps(const ModelPlan& plan)
      : model(plan),
        ids(tiny_tokens(4 * plan.train_length)),
        targets(tiny_tokens(4 * plan.train_length, "targets")) {}

  void run() {
    Tape tape(arena, pool);
    Pass pass(tape);
    pass.dropout = Dropout{.rate = 0.1, .key = random_key(0, "drop")};
    model.parameters().zero_gradients();
    tape.backward(model.loss(pass, ids, targets, 4));
  }

  Transformer model;
  std::vector<Token> ids, targets;
  Arena arena;
  GradientPool pool;
};

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("a steady training step makes no heap allocation of our own, every encoding") {
  if (!AllocationCounter::available()) return;
  std::vector<ModelPlan> plans;
  for (const std::string& kind : all_kinds()) plans.push_back(tiny_plan(kind, 32));
  // Frequencies that depend on the length are made anew every pass.
  if (test::is_built("rope")) plans.push_back(with_option(tiny_plan("rope", 32), "scaling", "yarn"));
  for (ModelPlan& plan : plans) {
    plan.model.width = 32;
    Steps steps(plan);
    for (int warm_up = 0; warm_up < 2; ++warm_up) steps.run();
    const AllocationCounter counter;
    steps.run();
    CHECK_MESSAGE(counter.counts().own == 0, plan.positional.kind);
  }
}

TEST_CASE("a steady training step makes no heap allocation of our own, everything around an encoding") {
  if (!AllocationCounter::available()) return;
  for (const char* scale : {"logn", "ssmax", "llama4"}) {
    ModelPlan plan = tiny_plan(test::any_kind(), 32);
    plan.model.width = 32;
    plan.positional.pattern = {plan.positional.kind, all_kinds().front()};
    if (std::string(scale) == "llama4") plan.positional.pattern.clear();
    plan.positional.score.scale = scale;
    plan.positional.keys = {.window = 8, .sinks = 2};
    plan.positional.randomized.maximum = 256;
    Steps steps(plan);
    for (int warm_up = 0; warm_up < 2; ++warm_up) steps.run();
    const AllocationCounter counter;
    steps.run();
    CHECK_MESSAGE(counter.counts().own == 0, scale);
  }
}

TEST_CASE("gradient memory does not grow with depth") {
  const auto peak = [](Index layers) {
    ModelPlan plan = tiny_plan(test::any_kind(), 8);
    plan.model.layers = layers;
    Steps steps(plan);
    steps.run();
    CHECK(steps.pool.used_bytes() == 0);
    return steps.pool.peak_bytes();
  };
  CHECK(peak(4) == peak(12));
}
