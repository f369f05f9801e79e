#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "tests/train/evaluation_scene.h"
#include "train/attention_probe.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

/// The first layer's attention of a model without positions, in plain loops and double.
class FirstLayer {
 public:
  explicit FirstLayer(const Transformer& model) : model_(model) {}

  /// Sums over the rows of one window, for one head: the five quantities in the order of the probe.
  std::array<double, 5> sums(const std::vector<Token>& window, Index head) const {
    const Index width = model_.plan().model.width, size = model_.plan().model.head_width();
    std::vector<std::vector<double>> queries, keys;
    for (const Token token : window) {
      const std::vector<double> row = normalized(token, width);
      queries.push_back(projected("query", row, head * size, size));
      keys.push_back(projected("key", row, head * size, size));
    }
    std::array<double, 5> sums{};
    for (std::size_t i = 0; i < window.size(); ++i) {
      std::vector<double> weights(i + 1);
      double total = 0;
      for (std::size_t j = 0; j <= i; ++j) {
        double score = 0;
        for (std::size_t e = 0; e < queries[i].size(); ++e) score += queries[i][e] * keys[j][e];
        weights[j] = std::exp(score / std::sqrt(static_cast<double>(size)));
        total += weights[j];
      }
      double entropy = 0, distance = 0;
      for (std::size_t j = 0; j <= i; ++j) {
        const double p = weights[j] / total;
        entropy -= p * std::log(p);
        distance += p * static_cast<double>(i - j);
        if (j < 4) sums[2] += p;
      }
      sums[0] += entropy;
      sums[3] += distance;
      if (i == 0) continue;
      sums[1] += entropy / std::log(static_cast<double>(i + 1));
      sums[4] += distance / static_cast<double>(i);
    }
    return sums;
  }

 private:
  Tensor parameter(const std::string& name) const {
    for (const Parameter& parameter : model_.parameters().parameters()) {
      if (parameter.name() == name) return parameter.value();
    }
    REQUIRE_MESSAGE(false, "no parameter " << name);
    return {};
  }

  std::vector<double> normalized(Token token, Index width) const {
    const Tensor table = parameter("embedding/weight"), gain = parameter("blocks/0/attention_norm/gain"),
                 shift = parameter("blocks/0/attention_norm/shift");
    std::vector<double> row(table.data + token * width, table.data + (token + 1) * width);
    double mean = 0, variance = 0;
    for (const double x : row) mean += x / static_cast<double>(width);
    for (const double x : row) variance += (x - mean) * (x - mean) / static_cast<double>(width);
    for (std::size_t c = 0; c < row.size(); ++c) {
      row[c] = (row[c] - mean) / std::sqrt(variance + model_.plan().model.norm_epsilon) *
                   static_cast<double>(gain.data[c]) +
               static_cast<double>(shift.data[c]);
    }
    return row;
  }

  std::vector<double> projected(const std::string& part, const std::vector<double>& row, Index first,
                                Index count) const {
    const Tensor weight = parameter("blocks/0/attention/" + part + "/weight"),
                 bias = parameter("blocks/0/attention/" + part + "/bias");
    std::vector<double> result;
    for (Index out = first; out < first + count; ++out) {
      double sum = static_cast<double>(bias.data[out]);
      for (std::size_t c = 0; c < row.size(); ++c) {
        sum +=
            static_cast<double>(weight.data[out * static_cast<Index>(row.size()) + static_cast<Index>(c)]) *
            row[c];
      }
      result.push_back(sum);
    }
    return result;
  }

  const Transformer& model_;
};

constexpr const char* quantities[] = {"entropy", "normalized_entropy", "sink_mass", "distance",
                                      "normalized_distance"};

TEST_CASE("attention probe: the figures of a plain computation" * test::needs({"none"})) {
  const EvaluationScene scene("none");
  const FirstLayer plain(scene.model);
  for (const Index length : {16, 64}) {
    CAPTURE(length);
    const ProbeResult found = attention_probe(scene.subject(), length, {});
    for (Index head = 0; head < 2; ++head) {
      std::array<double, 5> expected{};
      Index rows = 0, choosing = 0;
      for (const ScoredSegment& segment : scene.plan.attention.segments) {
        for (Index begin = segment.begin; begin < segment.begin + segment.count; begin += length) {
          std::vector<Token> window(static_cast<std::size_t>(length));
          scene.store.read(begin - 1, window);
          const std::array<double, 5> sums = plain.sums(window, head);
          for (std::size_t which = 0; which < sums.size(); ++which) expected[which] += sums[which];
          rows += length;
          choosing += length - 1;
        }
      }
      CHECK(rows == 512);
      for (std::size_t which = 0; which < expected.size(); ++which) {
        CAPTURE(which);
        const bool of_choosing = which == 1 || which == 4;
        const ProbeFigure* figure = found.find(quantities[which], 0, 0, head);
        REQUIRE(figure != nullptr);
        CHECK(figure->tokens == (of_choosing ? choosing : rows));
        CHECK(figure->value ==
              doctest::Approx(expected[which] / static_cast<double>(figure->tokens)).epsilon(1e-4));
      }
    }
    CHECK(found.figures.size() == 2 * 2 * 5);
  }
}

TEST_CASE("attention probe: windows run in chunks have the figures of whole ones") {
  for (const std::string& kind :
       test::built_of({"alibi", "rope", "sinusoidal", "none", "t5", "kerple_log", "xpos", "transformer_xl",
                       "cope", "fire", "shaw", "deberta"})) {
    for (const Index window : {0, 20}) {
      CAPTURE(kind);
      CAPTURE(window);
      Config config = tiny_config(kind).config;
      config.positional.keys.window = window;
      config.positional.keys.sinks = window == 0 ? 0 : 2;
      const EvaluationScene scene(config);
      const ProbeResult whole = attention_probe(scene.subject(), 64, {});
      EvaluationOptions options;
      options.chunk = 24;
      const ProbeResult chunks = attention_probe(scene.subject(), 64, options);
      REQUIRE(chunks.figures.size() == whole.figures.size());
      for (std::size_t i = 0; i < whole.figures.size(); ++i) {
        CHECK(chunks.figures[i].tokens == whole.figures[i].tokens);
        CHECK(chunks.figures[i].value == doctest::Approx(whole.figures[i].value).epsilon(1e-3));
      }
    }
  }
}

TEST_CASE("attention probe: the same targets at every length, in whole windows") {
  const Config config;  // toy
  const EvaluationPlan plan = evaluation_plan(config, scored_set({{0, 65536}, {65536, 65536}}, 1024));
  CHECK(plan.attention.tokens() == 4096);
  for (const ScoredSegment& segment : plan.attention.segments) CHECK(segment.count == 1024);
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION
