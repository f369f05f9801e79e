#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "core/error.h"
#include "tests/support/stop_signal.h"
#include "tests/train/evaluation_scene.h"
#include "train/hard_window_probe.h"
#include "train/history_probe.h"
#include "train/probe_run.h"
#include "train/shuffle_probe.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

double value_of(const ProbeResult& result, const std::string& quantity, Index span = 0) {
  const ProbeFigure* figure = result.find(quantity, span);
  REQUIRE_MESSAGE(figure != nullptr, result.probe << " has no " << quantity << " at " << span);
  return figure->value;
}

/// The loss of the target behind these tokens, by one pass over them.
double loss_behind(const Transformer& model, std::vector<Token> inputs, Token target, Index context) {
  Arena arena;
  GradientPool pool;
  Tape tape(arena, pool, Recording::off);
  Pass pass(tape);
  pass.declared_context = context;
  std::vector<Token> targets(inputs.size(), Token{-1});
  targets.back() = target;
  return static_cast<double>(*model.loss(pass, inputs, targets, 1).value().data);
}

/// The mean over the targets of `change`d histories of `history` tokens.
template <class Change>
double mean_loss(const EvaluationScene& scene, const Transformer& model, Index history, Index context,
                 const Change& change) {
  double total = 0;
  for (const ScoredSegment& target : scene.plan.probe_targets.segments) {
    std::vector<Token> tokens(static_cast<std::size_t>(history + 1));
    scene.store.read(target.begin - history, tokens);
    const Token last = tokens.back();
    tokens.pop_back();
    change(tokens, target.begin);
    total += loss_behind(model, tokens, last, context);
  }
  return total / static_cast<double>(scene.plan.probe_targets.segments.size());
}
constexpr auto unchanged = [](std::vector<Token>&, Index) {};

TEST_CASE("hard window: the trained length changes nothing, longer windows see as a windowed model does") {
  for (const std::string& kind : unlimited_kinds()) {
    CAPTURE(kind);
    Config config = tiny_config(kind).config;
    if (kind == "rope") config.positional.score.scale = "logn";  // counts the keys in sight
    const EvaluationScene scene(config);
    const ProbeResult same = hard_window_probe(scene.subject(), 16, {});
    const EvaluationResult at_trained = scene.run(plain_windows(16));
    CHECK(value_of(same, "nll") == at_trained.nll);
    CHECK(value_of(same, "tail_nll") == at_trained.tail_nll);

    const ProbeResult limited = hard_window_probe(scene.subject(), 64, {});
    const Transformer windowed = scene.with([](ModelPlan& plan) { plan.positional.keys.window = 16; });
    const EvaluationResult expected =
        evaluate_cell(windowed, scene.store, *scene.tokenizer, scene.plan, plain_windows(64));
    CHECK(value_of(limited, "nll") == expected.nll);
    CHECK(value_of(limited, "tail_nll") == expected.tail_nll);
    CHECK(value_of(limited, "bits_per_byte") == expected.bits_per_byte);
    CHECK(limited.find("nll")->tokens == scene.plan.scored.tokens());
    CHECK(std::abs(expected.nll - scene.run(plain_windows(64)).nll) > 1e-4);

    EvaluationOptions chunks;
    chunks.chunk = 24;
    CHECK(value_of(hard_window_probe(scene.subject(), 64, chunks), "nll") ==
          doctest::Approx(expected.nll).epsilon(1e-5));
  }
}

TEST_CASE("hard window: a window of the model's own that is narrower stays, and so do its sinks") {
  for (const Index window : {8, 40}) {
    Config config = tiny_config(unlimited_kinds().front()).config;
    config.positional.keys = {.causal = true, .window = window, .sinks = 2};
    const EvaluationScene scene(config);
    const Transformer narrowest =
        scene.with([&](ModelPlan& plan) { plan.positional.keys.window = std::min<Index>(window, 16); });
    CHECK(value_of(hard_window_probe(scene.subject(), 64, {}), "nll") ==
          evaluate_cell(narrowest, scene.store, *scene.tokenizer, scene.plan, plain_windows(64)).nll);
  }
}

TEST_CASE("history: all of it is the plain window of the targets, less of it a shorter one") {
  CHECK(history_spans(64) == std::vector<Index>{8, 16, 32, 64});
  CHECK(history_spans(100) == std::vector<Index>{8, 16, 32, 64, 100});
  CHECK(history_spans(8) == std::vector<Index>{8});
  CHECK(history_spans(5) == std::vector<Index>{5});
  for (const std::string& kind : unlimited_kinds()) {
    CAPTURE(kind);
    const EvaluationScene scene(kind);
    const ProbeResult result = run_probe({"history", 64}, scene.subject());
    CHECK(result.status == "ok");
    for (const Index span : history_spans(64)) {
      CHECK(result.find("nll", span)->tokens == 24);
      CHECK(value_of(result, "nll", span) ==
            doctest::Approx(mean_loss(scene, scene.model, span, 64, unchanged)).epsilon(1e-5));
    }
    std::vector<HistoryPoint> curve;
    for (const Index span : history_spans(64)) curve.push_back({span, value_of(result, "nll", span)});
    CHECK(value_of(result, "effective_context") == static_cast<double>(effective_context(curve)));
    // The same in chunks over a cache.
    EvaluationOptions chunks;
    chunks.chunk = 24;
    CHECK(value_of(run_probe({"history", 64}, scene.subject(), chunks), "nll", 64) ==
          doctest::Approx(value_of(result, "nll", 64)).epsilon(1e-5));
  }
}

TEST_CASE("history: the model is that of the whole length throughout" * test::needs({"rope"})) {
  Config config = tiny_config("rope").config;
  config.positional.options["rope"].set("scaling", std::string("ntk"));  // by the length over the trained one
  const EvaluationScene scene(config);
  const double at_8 = value_of(run_probe({"history", 64}, scene.subject()), "nll", 8);
  CHECK(at_8 == doctest::Approx(mean_loss(scene, scene.model, 8, 64, unchanged)).epsilon(1e-5));
  CHECK(std::abs(at_8 - mean_loss(scene, scene.model, 8, 8, unchanged)) > 1e-5);
}

TEST_CASE("effective context: the least history within a hundredth of a nat a byte of all of it") {
  const auto of = [](std::vector<HistoryPoint> curve) { return effective_context(curve); };
  CHECK(of({{8, 2.0}, {16, 1.5}, {32, 1.209}, {64, 1.2}}) == 32);
  CHECK(of({{8, 2.0}, {16, 1.5}, {32, 1.211}, {64, 1.2}}) == 64);
  CHECK(of({{8, 2.0}, {16, 1.2}, {32, 1.3}, {64, 1.2}}) == 16);  // the least, though more is worse
  CHECK(of({{8, 2.0}, {16, 2.1}, {32, 2.5}, {64, 2.6}}) == 8);   // all of it is worst of all
  CHECK(of({{5, 2.0}}) == 5);
  CHECK_THROWS_AS(of({}), StateError);
}

TEST_CASE("shuffle: a permutation of the farther history that depends on target and span alone") {
  std::vector<Token> numbers(100);
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto shuffled = [&](Index kept, Index target) {
    std::vector<Token> inputs = numbers;
    shuffle_history(inputs, kept, target);
    return inputs;
  };
  for (const Index kept : {0, 8, 50, 98}) {
    CAPTURE(kept);
    std::vector<Token> found = shuffled(kept, 7);
    CHECK(std::equal(found.end() - kept, found.end(), numbers.end() - kept));
    const auto moved = std::ranges::mismatch(found, numbers).in1 - found.begin();
    if (kept < 98) CHECK(moved < 100 - kept);
    CHECK(found == shuffled(kept, 7));
    if (kept < 98) CHECK(found != shuffled(kept, 8));
    std::ranges::sort(found);
    CHECK(found == numbers);
    // Every place before the kept ones takes part, the last of them too.
    std::vector<bool> taken(static_cast<std::size_t>(100 - kept), false);
    for (Index target = 0; target < 20; ++target) {
      found = shuffled(kept, target);
      for (std::size_t place = 0; place < taken.size(); ++place)
        taken[place] = taken[place] || found[place] != numbers[place];
    }
    CHECK(std::ranges::count(taken, false) == 0);
  }
  for (const Index kept : {99, 100, 101, 1000}) CHECK(shuffled(kept, 7) == numbers);
  CHECK(shuffle_spans(64) == std::vector<Index>{0, 8, 16, 32});
  CHECK(shuffle_spans(100) == std::vector<Index>{0, 8, 16, 32});
  CHECK(shuffle_spans(16) == std::vector<Index>{0, 8});
  CHECK(shuffle_spans(8) == std::vector<Index>{0});
}

TEST_CASE("shuffle: the loss of the targets behind the shuffled history") {
  for (const std::string& kind : unlimited_kinds()) {
    CAPTURE(kind);
    const EvaluationScene scene(kind);
    const ProbeResult result = run_probe({"shuffle", 64}, scene.subject());
    const double in_order = value_of(result, "nll", 64);
    CHECK(in_order == value_of(run_probe({"history", 64}, scene.subject()), "nll", 64));
    for (const Index kept : shuffle_spans(64)) {
      const double expected = mean_loss(
          scene, scene.model, 64, 64,
          [kept](std::vector<Token>& tokens, Index target) { shuffle_history(tokens, kept, target); });
      CHECK(value_of(result, "nll", kept) == doctest::Approx(expected).epsilon(1e-5));
      CHECK(value_of(result, "delta_nll", kept) == value_of(result, "nll", kept) - in_order);
    }
    CHECK(std::abs(value_of(result, "delta_nll", 0)) > 1e-3);
  }
}

TEST_CASE("in context: late tenth minus early tenth of the window") {
  const EvaluationScene scene(unlimited_kinds().front());
  const EvaluationResult evaluation = scene.run(plain_windows(16));
  const ProbeResult result = probe_of_evaluations({"in_context", 16}, std::span(&evaluation, 1), 16);
  const auto at = [&](Index position) {
    return evaluation.positions[static_cast<std::size_t>(position - 1)];
  };
  // Of 16: above 0.8 up to 2.4, and above 13.6 up to 15.2; as many targets at each position.
  const double early = (at(1).nll + at(2).nll) / 2, late = (at(14).nll + at(15).nll) / 2;
  CHECK(value_of(result, "early_nll") == doctest::Approx(early).epsilon(1e-12));
  CHECK(value_of(result, "late_nll") == doctest::Approx(late).epsilon(1e-12));
  CHECK(value_of(result, "score") == doctest::Approx(late - early).epsilon(1e-9));
  CHECK(result.find("early_nll")->tokens == at(1).tokens + at(2).tokens);
  // 100 divides no segment: short windows count at their positions.
  const EvaluationResult odd = scene.run(plain_windows(100));
  CHECK(odd.early.first == 6);
  CHECK(odd.early.last == 15);
  CHECK(odd.late.first == 86);
  CHECK(odd.late.last == 95);
  CHECK(odd.early.tokens > odd.late.tokens);
  const EvaluationResult few = scene.run(plain_windows(4));
  CHECK(probe_of_evaluations({"in_context", 4}, std::span(&few, 1), 16).figures.empty());
  CHECK_THROWS_AS(probe_of_evaluations({"in_context", 8}, std::span(&few, 1), 16), StateError);
}

TEST_CASE("probes: a length that the encoding refuses, and weights that are no numbers" *
          test::needs({"learned"})) {
  const EvaluationScene scene("learned");
  for (const char* probe : {"hard_window", "history", "shuffle", "attention"}) {
    CAPTURE(std::string(probe));
    const ProbeResult refused = run_probe({probe, 64}, scene.subject());
    CHECK(refused.probe == probe);
    CHECK(refused.length == 64);
    CHECK(refused.status == "refused");
    CHECK(refused.reason == "learned positions end at row 16, length 64 is past them");
    CHECK(refused.figures.empty());
    EvaluationScene broken("learned");
    broken.model.parameters().parameters().back().mutable_value().data[0] =
        std::numeric_limits<Real>::quiet_NaN();
    broken.model.parameters().parameters().front().mutable_value().data[0] =
        std::numeric_limits<Real>::quiet_NaN();
    for (Parameter& parameter : broken.model.parameters().parameters()) {
      if (parameter.name() == "blocks/0/attention/query/weight")
        parameter.mutable_value().data[0] = std::numeric_limits<Real>::quiet_NaN();
    }
    const ProbeResult diverged = run_probe({probe, 16}, broken.subject());
    CHECK(diverged.status == "diverged");
    CHECK_FALSE(diverged.reason.empty());
    CHECK(diverged.figures.empty());
  }
  const EvaluationResult refused = scene.run(plain_windows(64));
  CHECK(probe_of_evaluations({"in_context", 64}, std::span(&refused, 1), 16).status == "refused");
}

TEST_CASE("probes: progress goes from nothing to all, and a signal stops them") {
  const EvaluationScene scene(test::any_kind());
  for (const char* probe : {"hard_window", "history", "shuffle", "attention"}) {
    CAPTURE(std::string(probe));
    EvaluationOptions options;
    double before = 0;
    options.progress = [&](double share) {
      CHECK(share > before);
      before = share;
    };
    run_probe({probe, 16}, scene.subject(), options);
    CHECK(before == doctest::Approx(1));
    const SignalGuard guard;
    test::send_stop_signal(SIGTERM);
    CHECK_THROWS_AS(run_probe({probe, 16}, scene.subject()), Stopped);
    clear_signal();
  }
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION
