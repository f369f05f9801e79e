#include "layers/positional/fire.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"
#include "core/random.h"
#include "layers/positional/distances.h"
#include "layers/positional/fire_tables.h"
#include "layers/positional/number_text.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

constexpr Index most_hidden = 4096;
constexpr double initial_kappa = 0.1, initial_mu = 1;

/// As the linear layers of the reference begin: uniform within 1 / sqrt(inputs), weights and biases.
Initializer uniform_for(Index inputs) {
  return [bound = 1 / std::sqrt(static_cast<double>(inputs))](Tensor value, RandomKey key) {
    for (Index i = 0; i < value.size(); ++i) {
      const double u = random_uniform(key, static_cast<std::uint64_t>(i));
      value.data[i] = static_cast<Real>(bound * (2 * u - 1));
    }
  };
}

Initializer constant(double number) {
  return
      [number](Tensor value, RandomKey) { std::fill_n(value.data, value.size(), static_cast<Real>(number)); };
}

double parse_length(const std::string& text, Index train_length) {
  // A quarter: short trained windows have rows on either side of the threshold.
  if (text == "auto") return static_cast<double>(train_length) / 4;
  const double length = number_of_text(text).value_or(0);
  require<ConfigError>(length > 0, "positional.fire.length = \"{}\"; it takes auto or a number above 0",
                       text);
  return length;
}

enum NetworkSlot : Index { cuts_slot, slopes_slot, intercepts_slot };

}  // namespace

FirePositions::FirePositions(const EncodingContext& context, const Settings& settings)
    : PositionalEncoding(context.head_width), length_(settings.length), causal_(context.causal) {
  require<ConfigError>(settings.hidden >= 1 && settings.hidden <= most_hidden,
                       "positional.fire.hidden = {}; it must be 1 to {}", settings.hidden, most_hidden);
  networks_ = PerLayer<Network>(context, !settings.shared, [&](const Scope& scope) {
    return make_network(scope, settings.hidden, context.heads);
  });
}

FirePositions::Network FirePositions::make_network(const Scope& scope, Index hidden, Index heads) {
  return {&scope.add("kappa", {.shape = {1}, .initializer = constant(initial_kappa)}),
          &scope.add("mu", {.shape = {1}, .initializer = constant(initial_mu)}),
          &scope.add("inner_weight", {.shape = {hidden}, .initializer = uniform_for(1)}),
          &scope.add("inner_bias", {.shape = {hidden}, .initializer = uniform_for(1)}),
          &scope.add("output_weight",
                     {.shape = {heads, hidden}, .initializer = uniform_for(hidden), .decays = true}),
          &scope.add("output_bias", {.shape = {heads}, .initializer = uniform_for(hidden)}),
          std::make_unique<GrowingTable>()};
}

Var FirePositions::numerator(Pass& pass, const Network& network, const Distances& distances) const {
  return pass.once(network.kappa, distances.slot(), [&] {
    Parameter* const kappa = network.kappa;
    if (!GrowingTable::serves(pass, distances)) {
      return log_distances(pass.tape.leaf(*kappa), distances.first, distances.count);
    }
    const std::array<const Parameter*, 1> weights{kappa};
    const Tensor table = network.numerators->up_to(
        distances.last(), 1, weights,
        [&](const DistanceRows& rows) { fill_log_distances(kappa->value(), rows); });
    return pass.tape.constant(table.reshaped({table.size()}));
  });
}

ScoreTerms FirePositions::score_terms(Pass& pass, const PassPositions& all, Index layer) const {
  const Network& network = networks_[layer];
  Tape& tape = pass.tape;
  // All three come from one call; whoever asks for one of them first makes them all.
  PiecewiseLinear made;
  const auto part = [&](NetworkSlot slot, Var PiecewiseLinear::*which) {
    return pass.once(&network, slot, [&] {
      if (!made.cuts) {
        made = piecewise_linear(tape.leaf(*network.inner_weight), tape.leaf(*network.inner_bias),
                                tape.leaf(*network.output_weight), tape.leaf(*network.output_bias));
      }
      return made.*which;
    });
  };
  const Distances distances = distances_of(all, causal_);
  RowNormalizedBias term;
  term.first_distance = GrowingTable::serves(pass, distances) ? 0 : distances.first;
  term.numerator = numerator(pass, network, distances);
  term.denominator = pass.once(network.mu, rows_slot(all.query), [&] {
    return log_thresholds(tape.leaf(*network.kappa), tape.leaf(*network.mu), length_, all.query);
  });
  term.cuts = part(cuts_slot, &PiecewiseLinear::cuts);
  term.slopes = part(slopes_slot, &PiecewiseLinear::slopes);
  term.intercepts = part(intercepts_slot, &PiecewiseLinear::intercepts);
  ScoreTerms terms = PositionalEncoding::score_terms(pass, all, layer);
  terms.term = term;
  return terms;
}

const EncodingKind& fire_kind() {
  static const EncodingKind kind{
      .name = "fire",
      .title = "functional interpolation for relative positions (FIRE)",
      .formula =
          "score(i, j) = q_i . k_j / sqrt(d) + w_h . relu(w x + b) + c_h, "
          "x = ln(|kappa (i - j)| + 1) / (ln(|kappa max(i, |mu length|)| + 1) + 1e-6)",
      .acts_on = "scores, every layer",
      .parameters = "2 + 2 hidden + heads (hidden + 1), a layer or with shared = true once",
      .beyond = "runs: distances are taken relative to the row, so x stays in [0, 1]",
      .paper =
          "Li, You, Guruganesh, Ainslie, Ontanon, Zaheer, Sanghai, Yang, Kumar, Bhojanapalli 2023, "
          "\"Functional Interpolation for Relative Positions Improves Long Context Transformers\", "
          "arXiv:2310.04418",
      .options = {{.name = "hidden", .initial = Index{32}, .help = "units of the hidden layer"},
                  {.name = "length",
                   .initial = std::string("auto"),
                   .help = "rows up to |mu| times this are not normalized by their own position; auto: a "
                           "quarter of the trained length",
                   .choices = {"auto"},
                   .number_too = true},
                  {.name = "shared",
                   .initial = false,
                   .help = "one function for all layers (FIRE-S) instead of one a layer"}},
      .make = [](const OptionValues& options,
                 const EncodingContext& context) -> std::unique_ptr<PositionalEncoding> {
        return std::make_unique<FirePositions>(
            context,
            FirePositions::Settings{.hidden = options.integer("hidden"),
                                    .length = parse_length(options.text("length"), context.train_length),
                                    .shared = options.flag("shared")});
      },
  };
  return kind;
}

}  // namespace tapeline::inline TAPELINE_PRECISION
