#include <doctest/doctest.h>

#include <cmath>

#include "tests/layers/tiny_model.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

std::vector<double> first_rows(std::vector<double> logits, Index rows) {
  logits.resize(static_cast<std::size_t>(rows * 11));
  return logits;
}

/// The loss of the same 256 tokens in windows of `time`.
double mean_loss(const Transformer& model, Index time) {
  const std::vector<Token> ids = tiny_tokens(256), targets = tiny_tokens(256, "targets");
  Arena arena;
  GradientPool pool;
  Tape tape(arena, pool, Recording::off);
  Pass pass(tape);
  LossDetail detail;
  model.loss(pass, ids, targets, 256 / time, &detail);
  return detail.total / 256;
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("positions: the first rows of a long window are those of a short one") {
  const std::vector<Token> ids = tiny_tokens(40);
  for (const std::string& kind : all_kinds()) {
    const Transformer model = stirred(tiny_plan(kind, 40));
    const std::vector<double> whole = full_logits(model, ids);
    for (const Index rows : {1, 2, 17, 39}) {
      CHECK_MESSAGE(
          largest_difference(full_logits(model, std::span(ids).first(static_cast<std::size_t>(rows))),
                             first_rows(whole, rows)) < cached_limit(),
          kind, ", ", rows, " rows");
    }
  }
}

TEST_CASE("positions: a causal model does not see what comes") {
  std::vector<Token> ids = tiny_tokens(20);
  for (const std::string& kind : all_kinds()) {
    const Transformer model = stirred(tiny_plan(kind, 20));
    const std::vector<double> before = full_logits(model, ids);
    ids[12] = (ids[12] + 1) % 11;
    const std::vector<double> after = full_logits(model, ids);
    CHECK(first_rows(before, 12) == first_rows(after, 12));
    CHECK(before != after);
  }
}

TEST_CASE(
    "positions: moving all rows leaves none, rope and alibi as they were, not learned, sinusoidal and fire") {
  const std::vector<Token> ids = tiny_tokens(12);
  for (const std::string& kind : all_kinds()) {
    const Transformer model = stirred(tiny_plan(kind, 64));
    const double moved = largest_difference(full_logits(model, ids, 37), full_logits(model, ids));
    if (kind == "learned" || kind == "sinusoidal" || kind == "fire") {
      CHECK_MESSAGE(moved > 1e-2, kind);
    } else {
      CHECK_MESSAGE(moved < cached_limit(), kind);
    }
  }
}

TEST_CASE("positions: order matters to every encoding, and to none through the mask alone") {
  std::vector<Token> ids = {1, 2, 3, 4, 5, 6};
  std::vector<Token> swapped = {2, 1, 3, 4, 5, 6};
  for (const std::string& kind : all_kinds()) {
    const Transformer model = stirred(tiny_plan(kind));
    CHECK(largest_difference(full_logits(model, ids), full_logits(model, swapped)) > 1e-4);
  }
}

TEST_CASE("positions: an untrained model is as good at four times the length") {
  for (const std::string& kind : all_kinds()) {
    if (kind == "learned") continue;  // refuses
    const Transformer model(tiny_plan(kind, 64));
    CHECK_MESSAGE(std::abs(mean_loss(model, 256) / mean_loss(model, 64) - 1) < 0.01, kind);
  }
}
