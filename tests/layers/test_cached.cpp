#include <doctest/doctest.h>

#include "tests/layers/cached_check.h"

using namespace tapeline;

TEST_CASE("cache: chunks of any size give the rows of the full pass, every encoding") {
  for (const std::string& kind : all_kinds()) {
    Transformer model(tiny_plan(kind, 36));
    stir(model.parameters());
    check_cached(kind, model);
  }
}

TEST_CASE("cache: the same under a window, with and without sinks") {
  for (const std::string& kind : all_kinds()) {
    for (const Index window : {1, 4, 9}) {
      for (const Index sinks : {0, 3}) {
        ModelPlan plan = tiny_plan(kind, 36);
        plan.positional.keys = {.causal = true, .window = window, .sinks = sinks};
        Transformer model(plan);
        stir(model.parameters());
        check_cached(kind + ", window " + std::to_string(window) + ", sinks " + std::to_string(sinks), model);
      }
    }
  }
}

TEST_CASE("cache: probes of chunks are those of the full pass, under a window too") {
  const std::vector<Token> ids = tiny_tokens(60);
  for (const KeyMask& mask : {KeyMask{}, KeyMask{true, 9, 0}, KeyMask{true, 9, 3}}) {
    ModelPlan plan = tiny_plan(test::any_kind(), 60);
    plan.positional.keys = mask;
    Transformer model(plan);
    stir(model.parameters());
    const auto probed = [&](std::size_t chunk) {
      std::vector<double> sums(16);  // 2 layers of 4 sums of 2 heads
      std::vector<AttentionProbe> probes(2);
      for (std::size_t layer = 0; layer < 2; ++layer) {
        const auto part = [&](std::size_t n) { return std::span(sums).subspan(8 * layer + 2 * n, 2); };
        probes[layer] = {
            .entropy = part(0), .normalized_entropy = part(1), .sink_mass = part(2), .distance = part(3)};
      }
      KeyValueCache cache = model.make_cache(1);
      for (std::size_t at = 0; at < ids.size(); at += chunk) {
        Arena arena;
        GradientPool pool;
        Tape tape(arena, pool, Recording::off);
        Pass pass(tape);
        pass.probes = probes;
        const std::size_t rows = std::min(chunk, ids.size() - at);
        model.hidden(pass, std::span(ids).subspan(at, rows), 1, chunk < ids.size() ? &cache : nullptr);
      }
      CHECK(probes[1].rows == 60);
      return sums;
    };
    const std::vector<double> whole = probed(60);
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{7}, std::size_t{20}}) {
      CHECK(largest_difference(probed(chunk), whole) < cached_limit());
    }
  }
}

TEST_CASE("cache: the same with the options that touch attention or the order of rows") {
  const auto check = [](const std::string& name, auto change) {
    ModelPlan plan = tiny_plan(test::any_kind(), 12);
    change(plan);
    Transformer model(plan);
    stir(model.parameters());
    check_cached(name, model);
  };
  check("key_value_heads", [](ModelPlan& p) { p.model.heads = 4, p.model.key_value_heads = 1; });
  if (test::is_built("rope")) {
    check("interleaved, partial", [](ModelPlan& p) {
      p = with_option(with_option(p, "pairing", std::string("interleaved")), "fraction", 0.5);
    });
  }
  check("parallel", [](ModelPlan& p) { p.model.parallel_residual = true; });
  check("rms, swiglu", [](ModelPlan& p) { p.model.norm = "rms", p.model.activation = "swiglu"; });
  for (const char* beyond : {"clamp", "wrap", "interpolate"}) {
    if (!test::is_built("learned")) continue;
    check(beyond, [&](ModelPlan& p) {
      p.positional.kind = "learned";
      p = with_option(p, "beyond", std::string(beyond));
    });
  }
}

TEST_CASE("cache: several chunks of one size on one pass") {
  for (const std::string& kind : all_kinds()) {
    Transformer model(tiny_plan(kind, 36));
    stir(model.parameters());
    const std::vector<Token> ids = tiny_tokens(36);
    KeyValueCache cache = model.make_cache(1);
    Arena arena;
    GradientPool pool;
    Tape tape(arena, pool, Recording::off);
    Pass pass(tape);
    pass.declared_context = 36;
    std::vector<double> logits;
    for (std::size_t at = 0; at < 36; at += 12) {
      const Var rows = model.logits(pass, model.hidden(pass, std::span(ids).subspan(at, 12), 1, &cache));
      const std::vector<double> some = numbers_of(rows.value());
      logits.insert(logits.end(), some.begin(), some.end());
    }
    CHECK_MESSAGE(largest_difference(logits, full_logits(model, ids)) < cached_limit(), kind);
  }
}

TEST_CASE("cache: several sequences at once") {
  Transformer model(tiny_plan());
  stir(model.parameters());
  const Index batch = 3, time = 10;
  const std::vector<Token> ids = tiny_tokens(batch * time);
  std::vector<std::vector<double>> alone;
  for (Index b = 0; b < batch; ++b) {
    alone.push_back(full_logits(model, std::span(ids).subspan(static_cast<std::size_t>(b * time), time)));
  }
  KeyValueCache cache = model.make_cache(batch);
  for (const auto& [begin, rows] : {std::pair<Index, Index>{0, 6}, {6, 4}}) {
    std::vector<Token> part;
    for (Index b = 0; b < batch; ++b) {
      part.insert(part.end(), ids.begin() + b * time + begin, ids.begin() + b * time + begin + rows);
    }
    Arena arena;
    GradientPool pool;
    Tape tape(arena, pool, Recording::off);
    Pass pass(tape);
    const std::vector<double> logits =
        numbers_of(model.logits(pass, model.hidden(pass, part, batch, &cache)).value());
    for (Index b = 0; b < batch; ++b) {
      const std::vector<double> found(logits.begin() + b * rows * 11, logits.begin() + (b + 1) * rows * 11);
      const auto& whole = alone[static_cast<std::size_t>(b)];
      const std::vector<double> expected(whole.begin() + begin * 11, whole.begin() + (begin + rows) * 11);
      CHECK(largest_difference(found, expected) < cached_limit());
    }
  }
}

TEST_CASE("cache: the bias of a cached step uses the query's true position" * test::needs({"alibi"})) {
  // Two heads, zero queries, values that are the row numbers: head 0's slope is 1/16.
  const PositionalConfig config{.kind = "alibi", .options = {}, .keys = {}};
  ParameterStore store;
  const auto alibi = make_encoding(
      config,
      {.width = 2, .heads = 2, .head_width = 1, .layers = 1, .train_length = 4, .scope = store.root()});
  KeyValueCache cache(1, 1, 2, 1, {});
  Arena arena;
  GradientPool pool;
  for (Index row = 0; row < 4; ++row) {
    Tape tape(arena, pool, Recording::off);
    Pass pass(tape);
    PassPositions all;
    all.query = alibi->positions(pass, row, 1);
    all.key = cache.key_rows(1);
    const Storage zero({1, 2, 1, 1});
    const Storage value = filled_storage({1, 2, 1, 1}, {static_cast<double>(row), static_cast<double>(row)});
    const CachedKeyValues seen = cache.append(0, zero.tensor(), value.tensor());
    const Var out = attention(tape.constant(zero.tensor()), seen, alibi->score_terms(pass, all, 0));
    if (row == 3) CHECK(numbers_of(out.value())[0] == doctest::Approx(1.578039).epsilon(1e-6));
  }
}

TEST_CASE("evaluation without a tape needs one block's memory, however many blocks there are") {
  const auto peak = [](Index layers) {
    ModelPlan plan = tiny_plan(test::any_kind(), 64);
    plan.model.layers = layers;
    const Transformer model(plan);
    Arena arena;
    GradientPool pool;
    Tape tape(arena, pool, Recording::off);
    Pass pass(tape);
    model.hidden(pass, tiny_tokens(300), 1);
    return static_cast<double>(arena.peak_bytes());
  };
  CHECK(peak(8) < 1.05 * peak(2));
}
