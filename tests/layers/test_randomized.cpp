#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "core/ops.h"
#include "layers/generate.h"
#include "layers/positional/randomized.h"
#include "tests/layers/cached_check.h"
#include "tests/layers/refused_plan.h"
#include "tests/support/gradcheck.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

ModelPlan randomized_plan(const std::string& kind = test::any_kind(),
                          const std::string& evaluation = "sample", Index maximum = 100,
                          Index train_length = 16) {
  ModelPlan plan = tiny_plan(kind, train_length);
  plan.positional.randomized = {.maximum = maximum, .evaluation = evaluation};
  return plan;
}

std::vector<Index> drawn_numbers(std::uint64_t key, Index count, Index maximum) {
  Arena arena;
  const std::span<const Index> numbers = draw_positions(arena, RandomKey{key}, count, maximum);
  return {numbers.begin(), numbers.end()};
}

/// The positions of rows [begin, begin + count) in a pass of a context; the encodings of `plan`.
std::vector<Index> positions_in(const ModelPlan& plan, Recording recording, Index begin, Index count,
                                Index context, std::uint64_t key = 7, const Positions* cached = nullptr) {
  ParameterStore store;
  const ModelPositions positions(plan, store.root(), ModelPositions::registered(plan.positional));
  Arena arena;
  GradientPool pool;
  Tape tape(arena, pool, recording);
  Pass pass(tape);
  pass.declared_context = context;
  pass.position_key = RandomKey{key};
  const PassPositions all = positions.of_pass(pass, begin, count, cached)[0];
  const Positions& rows = cached != nullptr ? all.key : all.query;
  std::vector<Index> found;
  for (Index row = 0; row < rows.count; ++row) found.push_back(rows.at(row));
  return found;
}

/// Whether positions of rows change anything: cope counts its own from the content.
bool sees_positions(const std::string& kind) { return kind != "none" && kind != "cope"; }

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("randomized: draws are distinct, in order, within the range, and repeat under one key") {
  for (const auto& [count, maximum] : {std::pair<Index, Index>{1, 1},
                                       {1, 64},
                                       {63, 64},
                                       {64, 64},
                                       {64, 65},
                                       {5, 1000},
                                       {130, 128 + 3},
                                       {0, 9},
                                       {4096, 100000}}) {
    const std::vector<Index> numbers = drawn_numbers(3, count, maximum);
    REQUIRE(static_cast<Index>(numbers.size()) == count);
    CHECK(std::ranges::is_sorted(numbers));
    CHECK(std::set<Index>(numbers.begin(), numbers.end()).size() == numbers.size());
    if (count > 0) CHECK((numbers.front() >= 0 && numbers.back() < maximum));
    CHECK(numbers == drawn_numbers(3, count, maximum));
  }
  CHECK(drawn_numbers(3, 16, 1000) != drawn_numbers(4, 16, 1000));
  CHECK(tells(text_of_error<ShapeError>([] { drawn_numbers(3, 10, 9); }), {"10 rows", "maximum 9"}));
}

TEST_CASE("randomized: every number, and every pair, is drawn as often") {
  constexpr Index count = 4, maximum = 9, draws = 20000;
  double single[maximum] = {}, both[maximum][maximum] = {};
  for (Index draw = 0; draw < draws; ++draw) {
    const std::vector<Index> numbers = drawn_numbers(static_cast<std::uint64_t>(draw), count, maximum);
    for (const Index a : numbers) {
      single[a] += 1;
      for (const Index b : numbers) both[a][b] += a < b ? 1 : 0;
    }
  }
  // Binomial: five standard deviations are 351 and 264.
  for (Index a = 0; a < maximum; ++a) {
    CHECK(std::abs(single[a] - draws * 4.0 / 9) < 360);
    for (Index b = a + 1; b < maximum; ++b) CHECK(std::abs(both[a][b] - draws / 6.0) < 270);
  }
}

TEST_CASE("randomized: training draws once a pass, chunks take slices, keys that a cache kept theirs") {
  const ModelPlan arange = randomized_plan(test::any_kind(), "arange");
  const ModelPlan sample = randomized_plan(test::any_kind(), "sample");
  const std::vector<Index> whole = drawn_numbers(7, 16, 100);
  for (const ModelPlan& plan : {arange, sample}) {
    CHECK(positions_in(plan, Recording::on, 0, 16, 0) == whole);
    CHECK(positions_in(plan, Recording::on, 0, 16, 0, 8) != whole);
  }
  CHECK(positions_in(arange, Recording::off, 3, 4, 16) == std::vector<Index>{3, 4, 5, 6});
  CHECK(positions_in(sample, Recording::off, 0, 16, 16) == whole);
  CHECK(positions_in(sample, Recording::off, 5, 3, 16) ==
        std::vector<Index>(whole.begin() + 5, whole.begin() + 8));
  const std::vector<Index> kept_rows = {0, 1, 9, 10, 11, 12};
  Positions kept{.begin = 0, .count = 6};
  kept.axis[0] = kept_rows;
  std::vector<Index> expected;
  for (const Index row : kept_rows) expected.push_back(whole[static_cast<std::size_t>(row)]);
  CHECK(positions_in(sample, Recording::off, 12, 1, 16, 7, &kept) == expected);
}

TEST_CASE("randomized: every micro-batch of a training pass has the same draw, another key another loss") {
  const std::vector<Token> ids = tiny_tokens(32), targets = tiny_tokens(32, "targets");
  for (const std::string& kind : all_kinds()) {
    const Transformer model = stirred(randomized_plan(kind, "arange"));
    const auto loss = [&](std::size_t first, std::size_t count, std::uint64_t key) {
      Arena arena;
      GradientPool pool;
      Tape tape(arena, pool);
      Pass pass(tape);
      pass.position_key = RandomKey{key};
      LossDetail detail;
      model.loss(pass, std::span(ids).subspan(first, count), std::span(targets).subspan(first, count),
                 static_cast<Index>(count / 16), &detail);
      return detail.total;
    };
    CHECK(loss(0, 32, 1) == doctest::Approx(loss(0, 16, 1) + loss(16, 16, 1)).epsilon(1e-6));
    CAPTURE(kind);
    CHECK((std::abs(loss(0, 32, 1) - loss(0, 32, 2)) > 1e-4) == sees_positions(kind));
  }
}

TEST_CASE("randomized: cached is full when positions are sampled for the declared context") {
  const std::vector<Token> ids = tiny_tokens(36);
  for (const std::string& kind : all_kinds()) {
    for (const KeyMask& mask : {KeyMask{}, KeyMask{.window = 4}, KeyMask{.window = 9, .sinks = 3}}) {
      ModelPlan plan = randomized_plan(kind);
      plan.positional.keys = mask;
      Transformer model(plan);
      stir(model.parameters());
      check_cached(kind + ", window " + std::to_string(mask.window), model);
      plan.positional.randomized.evaluation = "arange";
      const Transformer arange = stirred(plan);
      check_cached(kind + ", arange, window " + std::to_string(mask.window), arange);
      if (!sees_positions(kind)) continue;
      CHECK(largest_difference(full_logits(model, ids), full_logits(arange, ids)) > 1e-4);
    }
  }
}

TEST_CASE("randomized: a shorter pass under a declared context has the first positions of the draw") {
  const std::vector<Token> ids = tiny_tokens(36);
  const Transformer model = stirred(randomized_plan());
  const auto logits = [&](Index rows) {
    Arena arena;
    GradientPool pool;
    Tape tape(arena, pool, Recording::off);
    Pass pass(tape);
    pass.declared_context = 36;
    return numbers_of(
        model.logits(pass, model.hidden(pass, std::span(ids).first(static_cast<std::size_t>(rows)), 1))
            .value());
  };
  const std::vector<double> whole = logits(36);
  CHECK(largest_difference(logits(10), std::vector<double>(whole.begin(), whole.begin() + 110)) <
        cached_limit());
}

TEST_CASE("randomized: all kinds have a longest sequence, the maximum, and say so past it") {
  const std::vector<Token> ids = tiny_tokens(41);
  for (const std::string& kind : all_kinds()) {
    for (const char* evaluation : {"arange", "sample"}) {
      const Transformer model = stirred(randomized_plan(kind, evaluation, 40));
      CHECK(model.max_length() == 40);
      CHECK_NOTHROW(full_logits(model, std::span(ids).first(40)));
      const std::string error = text_of_error<ShapeError>([&] { full_logits(model, ids); });
      CAPTURE(error);
      CHECK(tells(error, {"row 41", "40"}));
      if (kind != "learned") {
        CHECK(model.limited_by() == "randomized");
        CHECK(tells(error, {"[0, 40)", "positional.randomized.maximum"}));
      }
    }
  }
}

TEST_CASE("randomized: a cache needs the declared context, and rows stay inside it") {
  const Transformer model = stirred(randomized_plan());
  const std::vector<Token> ids = tiny_tokens(6);
  const auto run = [&](Index context) {
    KeyValueCache cache = model.make_cache(1);
    Arena arena;
    GradientPool pool;
    Tape tape(arena, pool, Recording::off);
    Pass pass(tape);
    pass.declared_context = context;
    model.hidden(pass, ids, 1, &cache);
  };
  CHECK_NOTHROW(run(6));
  CHECK(tells(text_of_error<ShapeError>([&] { run(0); }), {"whole context", "declared context"}));
  CHECK(tells(text_of_error<ShapeError>([&] { run(5); }), {"declared context of 5", "row 6"}));
}

TEST_CASE("randomized: generation, cached and not, and a window that slides at the maximum") {
  for (const char* evaluation : {"arange", "sample"}) {
    const Transformer model = stirred(randomized_plan(test::any_kind(), evaluation, 24));
    Generation request{.tokens = 40, .sampling = {.temperature = 0}};
    const std::vector<Token> prompt = {1, 2, 3};
    const Generated cached = generate(model, prompt, request);
    request.cached = false;
    const Generated plain = generate(model, prompt, request);
    CHECK(cached.tokens == plain.tokens);
    CHECK(cached.slides > 0);
  }
}

TEST_CASE("randomized: a learned table has a row for every position of the draw" * test::needs({"learned"})) {
  Transformer model(randomized_plan("learned", "arange", 100));
  CHECK(model.parameters().find("positional/learned/table")->shape() == Shape{100, 16});
  const ModelPlan few = with_option(randomized_plan("learned"), "rows", Index{99});
  CHECK(tells(refused_plan(few), {"positional.learned.rows = 99", "positional.randomized.maximum = 100"}));
  CHECK(refused_plan(with_option(few, "beyond", "wrap")).empty());
}

TEST_CASE("randomized: gradients" * test::needs({"learned"})) {
  Transformer model(randomized_plan("learned", "sample", 11, 5));
  stir(model.parameters());
  const std::vector<Token> ids = tiny_tokens(10);
  gradcheck("a model with randomized positions", model.parameters(),
            [&](Tape& tape) {
              Pass pass(tape);
              return model.hidden(pass, ids, 2);
            },
            {.elements = 11});
}

TEST_CASE("randomized: what makes no sense is refused by name") {
  CHECK(refused_plan(randomized_plan(test::any_kind(), "arange", 16)).empty());
  CHECK(tells(refused_plan(randomized_plan(test::any_kind(), "arange", 15)),
              {"positional.randomized.maximum = 15", "train.length = 16"}));
  CHECK(tells(refused_plan(randomized_plan(test::any_kind(), "range")),
              {"positional.randomized.evaluation = \"range\"", "arange, sample"}));
}
