#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/error.h"
#include "layers/generate.h"
#include "tests/layers/tiny_model.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

/// A model whose greedy text wanders: each token asks for its successor, the rest of the context sometimes
/// changes that. (The text of a model stirred at random is one token for ever, and hides what went wrong.)
Transformer wandering(ModelPlan plan) {
  plan.model.tied = false;
  Transformer model(plan);
  stir(model.parameters(), 0.1);
  const Tensor rows = model.parameters().find("embedding/weight")->mutable_value();
  const Tensor head = model.parameters().find("head/weight")->mutable_value();
  const Storage fresh = random_storage(rows.shape, "rows", 0.7);
  for (Index token = 0; token < 11; ++token) {
    std::copy_n(fresh.data() + token * 16, 16, rows.data + token * 16);
    std::copy_n(fresh.data() + token * 16, 16, head.data + (token + 1) % 11 * 16);
  }
  return model;
}

bool varied(const std::vector<Token>& text) { return std::set<Token>(text.begin(), text.end()).size() >= 4; }

Generated greedy(const Transformer& model, std::span<const Token> prompt, Index tokens, bool cached,
                 Index chunk = 256) {
  return generate(
      model, prompt,
      {.tokens = tokens, .sampling = {.temperature = 0}, .cached = cached, .prefill_chunk = chunk});
}

/// How often each token comes up in `draws` draws, as shares.
std::vector<double> shares(std::span<const Real> logits, const Sampling& sampling, Index draws = 4000) {
  std::vector<double> counts(logits.size(), 0.0);
  for (Index n = 0; n < draws; ++n) {
    counts[static_cast<std::size_t>(sample(logits, sampling, n))] += 1.0 / static_cast<double>(draws);
  }
  return counts;
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("sampling: temperature 0 and top_k 1 mean the largest logit, the first of equals") {
  const std::vector<Real> logits = {1, 2}, ties = {0, 3, 3};
  for (Index draw = 0; draw < 20; ++draw) {
    CHECK(sample(logits, {.temperature = 0}, draw) == 1);
    CHECK(sample(logits, {.temperature = 5, .top_k = 1}, draw) == 1);
    CHECK(sample(ties, {.temperature = 0}, draw) == 1);
  }
  CHECK(sample(std::vector<Real>{5}, {.temperature = 1}, 0) == 0);
}

TEST_CASE("sampling: top_k above the vocabulary is as none") {
  const std::vector<Real> logits = {1, 2, 0.5};
  for (Index draw = 0; draw < 200; ++draw) {
    CHECK(sample(logits, {.top_k = 100}, draw) == sample(logits, {}, draw));
    CHECK(sample(logits, {.top_k = 3}, draw) == sample(logits, {}, draw));
  }
}

TEST_CASE("sampling: shares follow the softmax, the temperature, top_k and top_p") {
  const std::vector<Real> logits = {static_cast<Real>(std::log(0.1)), static_cast<Real>(std::log(0.6)),
                                    static_cast<Real>(std::log(0.3))};
  const auto close = [](const std::vector<double>& found, const std::vector<double>& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CHECK(std::abs(found[i] - expected[i]) < 0.03);
      if (expected[i] == 0) CHECK(found[i] == 0);
    }
  };
  close(shares(logits, {}), {0.1, 0.6, 0.3});
  close(shares(logits, {.temperature = 0.5}), {0.01 / 0.46, 0.36 / 0.46, 0.09 / 0.46});
  close(shares(logits, {.top_k = 2}), {0, 0.6 / 0.9, 0.3 / 0.9});
  close(shares(logits, {.top_p = 0.85}), {0, 0.6 / 0.9, 0.3 / 0.9});
  close(shares(logits, {.top_p = 0.5}), {0, 1, 0});
  close(shares(logits, {.top_p = 1e-9}), {0, 1, 0});
  close(shares(logits, {.seed = 8}), {0.1, 0.6, 0.3});
}

TEST_CASE("sampling: a very low temperature and masked tokens do not overflow") {
  const Real never = -std::numeric_limits<Real>::infinity();
  const std::vector<Real> logits = {1000, 999, never};
  for (Index draw = 0; draw < 50; ++draw) {
    CHECK(sample(logits, {.temperature = 1e-6}, draw) == 0);
    CHECK(sample(logits, {.temperature = 100}, draw) != 2);
  }
}

TEST_CASE("sampling: what makes no sense is refused") {
  const std::vector<Real> damaged = {0, std::numeric_limits<Real>::quiet_NaN()};
  CHECK_THROWS_AS(sample(damaged, {}, 0), NumericError);
  CHECK_THROWS_AS(sample(damaged, {.temperature = 0}, 0), NumericError);
  CHECK_THROWS_AS(validate(Sampling{.temperature = -1}), ConfigError);
  CHECK_THROWS_AS(validate(Sampling{.temperature = std::numeric_limits<double>::quiet_NaN()}), ConfigError);
  CHECK_THROWS_AS(validate(Sampling{.top_k = -1}), ConfigError);
  CHECK_THROWS_AS(validate(Sampling{.top_p = 0}), ConfigError);
  CHECK_THROWS_AS(validate(Sampling{.top_p = 1.1}), ConfigError);
  const Transformer model(tiny_plan());
  CHECK_THROWS_AS(generate(model, {}, {.tokens = 1}), DataError);
  CHECK_THROWS_AS(generate(model, std::vector<Token>{1}, {.tokens = -1}), ConfigError);
  CHECK_THROWS_AS(generate(model, std::vector<Token>{11}, {.tokens = 1}), ShapeError);
}

TEST_CASE("generation: greedy text is the argmax of the full pass, with and without the cache") {
  for (const std::string& kind : all_kinds()) {
    const Transformer model = wandering(tiny_plan(kind, 64));
    std::vector<Token> text = tiny_tokens(6);
    const std::vector<Token> prompt = text;
    for (Index n = 0; n < 30; ++n) {
      const std::vector<double> logits = full_logits(model, text);
      const auto last = logits.end() - 11;
      text.push_back(static_cast<Token>(std::max_element(last, logits.end()) - last));
    }
    const std::vector<Token> expected(text.begin() + 6, text.end());
    CHECK_MESSAGE(varied(expected), kind);
    CHECK(greedy(model, prompt, 30, true).tokens == expected);
    CHECK(greedy(model, prompt, 30, true, 1).tokens == expected);
    CHECK(greedy(model, prompt, 30, true, 4).tokens == expected);
    CHECK(greedy(model, prompt, 30, false).tokens == expected);
  }
}

TEST_CASE("generation: past the context the window slides, and the text is the same with cache on and off") {
  for (const std::string& kind : all_kinds()) {
    const Transformer model = wandering(tiny_plan(kind, 16));
    for (const Index prompt : {1, 5, 16, 23}) {
      const Generated with = greedy(model, tiny_tokens(prompt), 40, true, 7);
      const Generated without = greedy(model, tiny_tokens(prompt), 40, false);
      CHECK(with.tokens.size() == 40);
      CHECK_MESSAGE(varied(with.tokens), kind, ", prompt of ", prompt);
      CHECK(with.tokens == without.tokens);
      CHECK(with.slides == without.slides);
      CHECK((with.slides > 0) == (kind == "learned"));
    }
  }
}

TEST_CASE("generation: when the window slides" * test::needs({"learned"})) {
  // The first slide comes when a 17th row would be needed, and again whenever 16 rows have become 17 from 8.
  const Transformer model = wandering(tiny_plan("learned", 16));
  CHECK(greedy(model, tiny_tokens(1), 16, true).slides == 0);
  CHECK(greedy(model, tiny_tokens(1), 17, true).slides == 1);
  CHECK(greedy(model, tiny_tokens(1), 25, true).slides == 1);
  CHECK(greedy(model, tiny_tokens(1), 26, true).slides == 2);
  CHECK(greedy(wandering(tiny_plan("learned", 1)), tiny_tokens(1), 5, true).slides == 4);
}

TEST_CASE("generation: under a window, the same text with cache on and off") {
  ModelPlan plan = tiny_plan(test::any_kind(), 64);
  plan.positional.keys = {.causal = true, .window = 5, .sinks = 1};
  const Transformer model = wandering(plan);
  CHECK(greedy(model, tiny_tokens(9), 40, true, 4).tokens == greedy(model, tiny_tokens(9), 40, false).tokens);
}

TEST_CASE("generation: seeds repeat, differ, and do not depend on the cache; the listener can stop") {
  const Transformer model = wandering(tiny_plan(test::any_kind(), 64));
  const std::vector<Token> prompt = tiny_tokens(3);
  const auto text = [&](std::uint64_t seed, bool cached) {
    return generate(model, prompt, {.tokens = 30, .sampling = {.seed = seed}, .cached = cached}).tokens;
  };
  CHECK(text(0, true) == text(0, true));
  CHECK(text(0, true) == text(0, false));
  CHECK(text(0, true) != text(1, true));
  std::vector<Token> heard;
  const Generated stopped = generate(model, prompt, {.tokens = 30}, [&](Token token) {
    heard.push_back(token);
    return heard.size() < 4;
  });
  CHECK(heard == stopped.tokens);
  CHECK(heard.size() == 4);
  CHECK(generate(model, prompt, {.tokens = 0}).tokens.empty());
}

TEST_CASE("generation of several texts: each is what it is alone, with and without the cache, past slides") {
  for (const std::string& kind : all_kinds()) {
    const Transformer model = wandering(tiny_plan(kind, 16));
    for (const Index length : {1, 5, 23}) {
      const std::vector<Token> prompt = tiny_tokens(length);
      for (const bool cached : {true, false}) {
        const Generation request{
            .tokens = 30, .sampling = {.temperature = 3, .seed = 4}, .cached = cached, .prefill_chunk = 7};
        const GeneratedTexts together = generate_texts(model, prompt, request, 3);
        REQUIRE(together.texts.size() == 3);
        CHECK(std::set(together.texts.begin(), together.texts.end()).size() == 3);
        CHECK((together.cache_bytes > 0) == cached);
        for (Index text = 0; text < 3; ++text) {
          Generation alone = request;
          alone.sampling.text = text;
          alone.cached = true;
          const Generated one = generate(model, prompt, alone);
          CHECK_MESSAGE(together.texts[static_cast<std::size_t>(text)] == one.tokens, kind, ", prompt of ",
                        length, ", text ", text);
          CHECK(together.slides == one.slides);
        }
      }
    }
  }
}

TEST_CASE("generation of several texts: one that has ended does not change or stop the others") {
  const Transformer model = wandering(tiny_plan(test::any_kind(), 64));
  const Generation request{.tokens = 20, .sampling = {.temperature = 3, .seed = 4}};
  const std::vector<Token> prompt = tiny_tokens(3);
  const GeneratedTexts whole = generate_texts(model, prompt, request, 3);
  std::vector<std::vector<Token>> heard(3);
  const GeneratedTexts cut = generate_texts(model, prompt, request, 3, [&](Index text, Token token) {
    std::vector<Token>& mine = heard[static_cast<std::size_t>(text)];
    mine.push_back(token);
    return text != 1 || mine.size() < 5;
  });
  CHECK(heard == cut.texts);
  CHECK(cut.texts[0] == whole.texts[0]);
  CHECK(cut.texts[2] == whole.texts[2]);
  CHECK(cut.texts[1] == std::vector<Token>(whole.texts[1].begin(), whole.texts[1].begin() + 5));
  Index calls = 0;
  generate_texts(model, prompt, request, 3, [&](Index, Token) {
    ++calls;
    return false;
  });
  CHECK(calls == 3);
  CHECK_THROWS_AS(generate_texts(model, prompt, request, 0), ConfigError);
}

TEST_CASE("generation of several texts: under a window, over a cache that drops rows") {
  ModelPlan plan = tiny_plan(test::any_kind(), 64);
  plan.positional.keys = {.causal = true, .window = 5, .sinks = 1};
  const Transformer model = wandering(plan);
  const Generation request{.tokens = 40, .sampling = {.temperature = 3}, .prefill_chunk = 4};
  Generation uncached = request;
  uncached.cached = false;
  CHECK(generate_texts(model, tiny_tokens(9), request, 2).texts ==
        generate_texts(model, tiny_tokens(9), uncached, 2).texts);
}
