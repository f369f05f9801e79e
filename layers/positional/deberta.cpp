#include "layers/positional/deberta.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/error.h"
#include "core/ops.h"
#include "layers/init.h"
#include "layers/positional/number_text.h"
#include "layers/positional/relative_tables.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

constexpr double norm_epsilon = 1e-7;  // the authors' code
constexpr Index most_rows = Index{1} << 32;

DebertaPositions::Settings settings_of(const OptionValues& options, Index train_length) {
  DebertaPositions::Settings settings{.reversed_key_index = options.text("index") == "paper",
                                      .norm_table = options.flag("norm_table")};
  const Index buckets = options.integer("position_buckets");
  const std::string &span = options.text("span"), &max_position = options.text("max_position");
  const Index automatic = std::min<Index>(512, train_length);
  if (buckets == 0) {
    require<ConfigError>(
        max_position == "auto",
        "positional.deberta.max_position = {} without position_buckets; it bounds the buckets, "
        "the distances are bounded by positional.deberta.span",
        max_position);
    settings.span = whole_or_auto("positional.deberta.span", span, automatic, 1);
    return settings;
  }
  require<ConfigError>(
      buckets >= 4 && buckets % 2 == 0,
      "positional.deberta.position_buckets = {}; it must be 0 (none) or an even number of at "
      "least 4",
      buckets);
  require<ConfigError>(span == "auto",
                       "positional.deberta.span = {} with position_buckets = {}; the buckets take its place, "
                       "leave it at auto",
                       span, buckets);
  settings.span = buckets;
  settings.max_position = whole_or_auto("positional.deberta.max_position", max_position, automatic, 1);
  require<ConfigError>(
      settings.max_position - 1 > buckets / 2,
      "positional.deberta.max_position = {}{} with position_buckets = {}; it must be at least {}",
      settings.max_position, max_position == "auto" ? " (auto: 512, at most the trained length)" : "",
      buckets, buckets / 2 + 2);
  return settings;
}

}  // namespace

Index deberta_bucket(Index distance, Index buckets, Index max_position) {
  const Index middle = buckets / 2, size = std::min(std::abs(distance), max_position - 1);
  if (size <= middle) return distance;
  const auto m = static_cast<double>(middle);
  const double share =
      std::log(static_cast<double>(size) / m) / std::log(static_cast<double>(max_position - 1) / m);
  const Index bucket = middle + static_cast<Index>(std::ceil(share * (m - 1)));
  return distance < 0 ? -bucket : bucket;
}

DebertaPositions::DebertaPositions(const EncodingContext& context, const Settings& settings)
    : PositionalEncoding(context.head_width), settings_(settings), causal_(context.causal) {
  const Index rows = 2 * settings.span;
  require<ConfigError>(settings.span < most_rows / 2, "positional.deberta.span = {}; it must be at most {}",
                       settings.span, most_rows / 2 - 1);
  table_ = &context.scope.add("table", {.shape = {rows, context.width}, .initializer = normal()});
  if (settings.norm_table) {
    const Scope norm = context.scope.scope("table_norm");
    gain_ = &norm.add("gain", {.shape = {context.width}, .initializer = ones()});
    shift_ = &norm.add("shift", {.shape = {context.width}, .initializer = zeros()});
  }
  const ParameterSpec projection{
      .shape = {context.heads * context.head_width, context.width}, .initializer = normal(), .decays = true};
  projections_ = PerLayer<Projections>(context, true, [&](const Scope& scope) {
    Parameter* const key = &scope.add("key_projection", projection);
    return Projections{key, &scope.add("query_projection", projection)};
  });
}

Var DebertaPositions::table(Pass& pass) const {
  if (gain_ == nullptr) return pass.tape.leaf(*table_);
  return pass.once(this, 0, [&] {
    return layer_norm(pass.tape.leaf(*table_), pass.tape.leaf(*gain_), pass.tape.leaf(*shift_), norm_epsilon);
  });
}

Var DebertaPositions::projected(Pass& pass, Parameter& projection) const {
  const auto make = [&] { return linear(table(pass), pass.tape.leaf(projection), Var{}); };
  if (gain_ == nullptr) return tables_.get(pass, {}, {&projection, table_}, make);
  return tables_.get(pass, {}, {&projection, table_, gain_, shift_}, make);
}

ScoreTerms DebertaPositions::score_terms(Pass& pass, const PassPositions& all, Index layer) const {
  ScoreTerms terms = PositionalEncoding::score_terms(pass, all, layer);
  terms.scale = static_cast<Real>(1 / std::sqrt(3 * static_cast<double>(head_width())));
  const Distances distances = table_distances(pass, all, causal_);
  const auto row = [this](Index distance) {
    const Index k = settings_.span;
    const Index at =
        settings_.max_position == 0 ? distance : deberta_bucket(distance, k, settings_.max_position);
    return std::clamp(at + k, Index{0}, 2 * k - 1);
  };
  const Projections& projections = projections_[layer];
  // The two indices stand for different members of this object.
  RelativeVectors vectors;
  vectors.query_vectors = projected(pass, *projections.key);
  vectors.key_vectors = projected(pass, *projections.query);
  vectors.query_index = distance_index(pass, &table_, distances, row);
  vectors.key_index =
      settings_.reversed_key_index
          ? distance_index(pass, &projections_, distances, [&row](Index distance) { return row(-distance); })
          : vectors.query_index;
  vectors.first_distance = distances.first;
  terms.term = vectors;
  return terms;
}

const EncodingKind& deberta_kind() {
  static const EncodingKind kind{
      .name = "deberta",
      .title = "disentangled attention (DeBERTa)",
      .formula =
          "score(i, j) = (q_i . k_j + q_i . K[e(i - j)] + k_j . Q[e(i - j)]) / sqrt(3d), K = P W_k, Q = P "
          "W_q, "
          "e(t) = clip(t + k, 0, 2k - 1)",
      .acts_on = "scores, every layer",
      .parameters = "2k x width for all layers; a layer: two of width x width",
      .beyond = "runs; distances from k on are one",
      .paper =
          "He, Liu, Gao, Chen 2021, \"DeBERTa: Decoding-enhanced BERT with Disentangled Attention\", "
          "arXiv:2006.03654",
      .options = {{.name = "index",
                   .initial = std::string("code"),
                   .help = "which row of Q a key meets: that of i - j, as the authors' code and all "
                           "checkpoints have it, or that of j - i, as the paper's equation",
                   .choices = {"code", "paper"}},
                  {.name = "span",
                   .initial = std::string("auto"),
                   .help =
                       "k: distances to each side with a row of their own; auto: 512, at most the trained "
                       "length",
                   .choices = {"auto"},
                   .number_too = true},
                  {.name = "position_buckets",
                   .initial = Index{0},
                   .help = "buckets to each side, beyond half of them in steps that grow (v2, v3: 256); 0: "
                           "none"},
                  {.name = "max_position",
                   .initial = std::string("auto"),
                   .help =
                       "distances from max_position - 1 on are one; auto: 512, at most the trained length",
                   .choices = {"auto"},
                   .number_too = true},
                  {.name = "norm_table",
                   .initial = false,
                   .help = "layer norm on the rows of P before they are projected (v2, v3)"}},
      .make = [](const OptionValues& options,
                 const EncodingContext& context) -> std::unique_ptr<PositionalEncoding> {
        return std::make_unique<DebertaPositions>(context, settings_of(options, context.train_length));
      },
  };
  return kind;
}

}  // namespace tapeline::inline TAPELINE_PRECISION
