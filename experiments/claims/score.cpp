#include "experiments/claims/score.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "core/attention.h"
#include "experiments/claims/made_up.h"
#include "experiments/claims/subjects.h"
#include "layers/positional/score_scale.h"

namespace tapeline {
namespace {

constexpr Index logn_base_keys = 64;  // the base of log-n

/// The factors of the library's log-n scale, not clipped, in rows [begin, begin + count): [count].
Var logn_factors(Tape& tape, Index begin, Index count) {
  PositionalConfig config;
  config.score.scale = "logn";
  config.score.clip = false;
  ParameterStore store;
  const auto scale = make_score_scale(
      config, {.heads = 1, .layers = 1, .train_length = logn_base_keys, .root = store.root()});
  Pass pass(tape);
  PassPositions all;
  all.key = {.begin = 0, .count = begin + count};
  all.query = {.begin = begin, .count = count};
  return scale->factors(pass, all, 0);
}

/// A score of 1/4 q . k.
ScoreTerms quartered() {
  ScoreTerms terms;
  terms.scale = Real{0.25};
  return terms;
}

}  // namespace

std::vector<Index> keys_seen_by_rows(const KeyMask& mask, Index rows) {
  const std::vector<double> weights = weights_of_terms(rows, [&](Tape&) {
    ScoreTerms terms;
    terms.mask = mask;
    return terms;
  });
  std::vector<Index> seen(static_cast<std::size_t>(rows));
  for (std::size_t at = 0; at < weights.size(); ++at) {
    seen[at / static_cast<std::size_t>(rows)] += weights[at] > 0 ? 1 : 0;
  }
  return seen;
}

ClaimFinding window_counts_itself(const KeyMask& mask, Index window) {
  const std::vector<Index> seen = keys_seen_by_rows(mask, 4 * window);
  const auto [least, most] =
      std::ranges::minmax(std::span(seen).subspan(static_cast<std::size_t>(window - 1)));
  const std::string count = least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
  return {least == window && most == window ? ClaimVerdict::is_true : ClaimVerdict::is_false,
          fmt::format("window {}: rows {} to {} see {} keys", window, window - 1, 4 * window - 1, count)};
}

Index farthest_seen(Index layers, Index window) {
  const Index rows = layers * window + 8;
  const Transformer model = positionless_model(layers, {.window = window});
  std::vector<Token> text(static_cast<std::size_t>(rows), Token{1});
  const auto last_row = [&](const std::vector<Token>& tokens) {
    const std::vector<double> all = hidden_rows(model, tokens);
    return std::vector<double>(all.end() - model.plan().model.width, all.end());
  };
  const std::vector<double> unchanged = last_row(text);
  for (Index row = 0; row < rows; ++row) {
    std::vector<Token> changed = text;
    changed[static_cast<std::size_t>(row)] = Token{2};
    if (last_row(changed) != unchanged) return rows - 1 - row;
  }
  return 0;
}

ClaimFinding window_bounds_the_model(Index layers, Index window) {
  const Index farthest = farthest_seen(layers, window);
  return {
      farthest < window ? ClaimVerdict::is_true : ClaimVerdict::is_false,
      fmt::format("{} layers, window {}: a token {} rows back still changes the last row; layers × (window - "
                  "1) = {}",
                  layers, window, farthest, layers * (window - 1))};
}

ScaleReadings logn_readings() {
  constexpr Index rows = 256, width = 16;
  ScaleReadings readings;
  Arena arena;
  GradientPool pool;
  Tape tape(arena, pool, Recording::off);
  const Tensor factors = logn_factors(tape, 0, rows).value();
  readings.at_base = static_cast<double>(factors.data[logn_base_keys - 1]);
  readings.at_end = static_cast<double>(factors.data[rows - 1]);

  // The last feature of keys is 1: that of a query is added to all its scores, times the scale.
  std::vector<double> q = normal_numbers(rows * width, "query"), k = normal_numbers(rows * width, "key");
  const std::vector<double> v = normal_numbers(rows * width, "value");
  for (Index row = 0; row < rows; ++row) {
    q[static_cast<std::size_t>(row * width + width - 1)] = 0;
    k[static_cast<std::size_t>(row * width + width - 1)] = 1;
  }
  std::vector<double> added = q, multiplied = q;
  for (Index row = 0; row < rows; ++row) {
    const double factor = static_cast<double>(factors.data[row]);
    added[static_cast<std::size_t>(row * width + width - 1)] = 4 * factor;
    for (Index at = 0; at < width; ++at) multiplied[static_cast<std::size_t>(row * width + at)] *= factor;
  }
  const Shape shape{1, rows, width};
  const Storage keys = as_storage(shape, k), values = as_storage(shape, v);
  const auto output = [&](const std::vector<double>& queries, bool scaled) {
    return attention_output(as_storage(shape, queries), keys, values, [&](Tape& on) {
      ScoreTerms terms = quartered();
      if (scaled) terms.query_scale = on.constant(factors);
      return terms;
    });
  };
  const std::vector<double> ours = output(q, true);
  readings.plain = largest_difference(ours, output(q, false));
  readings.added = largest_difference(ours, output(added, false));
  readings.multiplied = largest_difference(ours, output(multiplied, false));
  return readings;
}

ClaimFinding logn_is_added(const ScaleReadings& readings) {
  const bool added = readings.added <= 1e-5 && readings.multiplied > 1e-5;
  return {
      added ? ClaimVerdict::is_true : ClaimVerdict::is_false,
      fmt::format("ln n / ln 64 is {:.3f} at n = 64 and {:.3f} at 256; outputs differ by {:.2g} from scores "
                  "multiplied by it, by {:.2g} from scores it is added to, and these are as without it",
                  readings.at_base, readings.at_end, readings.multiplied, readings.added)};
}

double entropy_of_rows(Index keys, bool scaled) {
  constexpr Index rows = 32, width = 16;
  const Storage q = as_storage({1, 1, rows, width}, normal_numbers(rows * width, "query"));
  const std::vector<double> numbers = normal_numbers(keys * width, "key");
  const Storage k = as_storage({1, 1, keys, width}, numbers);
  Arena arena;
  GradientPool pool;
  Tape tape(arena, pool, Recording::off);
  ScoreTerms terms = quartered();
  if (scaled) terms.query_scale = logn_factors(tape, keys - rows, rows);
  std::array<double, 4> sums{};
  AttentionProbe probe;
  probe.entropy = std::span(sums).subspan(0, 1);
  probe.normalized_entropy = std::span(sums).subspan(1, 1);
  probe.sink_mass = std::span(sums).subspan(2, 1);
  probe.distance = std::span(sums).subspan(3, 1);
  const Var of_keys = tape.constant(k.tensor());
  attention(tape.constant(q.tensor()), of_keys, of_keys, terms, {}, &probe);
  return sums[0] / static_cast<double>(probe.rows);
}

ClaimFinding logn_keeps_entropy(const std::vector<double>& scaled, const std::vector<double>& plain) {
  const bool kept = std::ranges::all_of(
      scaled, [&](double entropy) { return std::abs(entropy / scaled.front() - 1) <= 0.05; });
  return {kept ? ClaimVerdict::is_true : ClaimVerdict::is_false,
          fmt::format("entropy at 64, 256, 1024, 4096 keys in nats: {:.2f} with it, {:.2f} without",
                      fmt::join(scaled, ", "), fmt::join(plain, ", "))};
}

std::vector<Claim> score_claims() {
  return {
      {.id = "window-keys",
       .statement = "A sliding window of w shows a row w keys, its own included",
       .source = "Jiang et al. 2023 (Mistral 7B), arXiv:2310.06825; ported as w + 1 for long, "
                 "huggingface/transformers#29623",
       .computed =
           "Which keys have a weight in attention of 32 rows with window 8. True if every full row has 8.",
       .compute = [] { return window_counts_itself({.window = 8}, 8); }},
      {.id = "window-reach",
       .statement = "With a sliding window of w a model uses at most the last w tokens",
       .source = "circulating; against it Jiang et al. 2023 (Mistral 7B), arXiv:2310.06825, section 2",
       .computed = "Three layers with random weights and window 8: every token is exchanged in turn. True if "
                   "none that stands 8 or more rows back changes the last row.",
       .compute = [] { return window_bounds_the_model(3, 8); }},
      {.id = "logn-adds",
       .statement = "log-n scaling adds a coefficient ln n / ln L to the scores",
       .source = "circulating: overviews of length extrapolation; see Su 2021, kexue.fm/archives/8823",
       .computed =
           "Random causal attention of 256 rows with log-n scaling to base 64, against scores that the "
           "coefficient is added to, and scores that are multiplied by it. True if the first agree within "
           "1e-5 and the second do not.",
       .compute = [] { return logn_is_added(logn_readings()); }},
      {.id = "logn-entropy",
       .statement = "log-n scaling keeps the entropy of attention the same at every length",
       .source = "Su 2021, kexue.fm/archives/8823 (\"entropy invariance\")",
       .computed =
           "Mean entropy of 32 rows of random queries over 64, 256, 1024 and 4096 random keys, scores of "
           "deviation 1, with log-n scaling to base 64 and without. True if it stays within 5 %.",
       .compute =
           [] {
             std::vector<double> scaled, plain;
             for (const Index keys : {Index{64}, Index{256}, Index{1024}, Index{4096}}) {
               scaled.push_back(entropy_of_rows(keys, true));
               plain.push_back(entropy_of_rows(keys, false));
             }
             return logn_keeps_entropy(scaled, plain);
           }},
  };
}

}  // namespace tapeline
