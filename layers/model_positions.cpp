#include "layers/model_positions.h"

#include "core/error.h"
#include "core/ops.h"
#include "layers/positional/randomized.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

constexpr std::string_view randomized_name = "randomized";

EncodingContext context_of(const ModelPlan& plan, const Scope& root, const std::string& kind) {
  EncodingContext context{.width = plan.model.width,
                          .heads = plan.model.heads,
                          .head_width = plan.model.head_width(),
                          .layers = plan.model.layers,
                          .train_length = plan.train_length,
                          .causal = plan.positional.keys.causal,
                          .scope = root.scope("positional").scope(kind),
                          .randomized_maximum = plan.positional.randomized.maximum,
                          .kind = kind};
  if (plan.positional.pattern.empty()) return context;
  for (Index layer = 0; layer < plan.model.layers; ++layer) {
    if (plan.positional.kind_of_layer(layer) == kind) context.own_layers.push_back(layer);
  }
  return context;
}

/// The positions of rows that are told by number, where there may be a gap: those of a windowed cache.
Positions positions_of_kept(Pass& pass, const PositionalEncoding& encoding, const Positions& kept) {
  const Index length = kept.axis[0].back() + 1;
  Positions result{.begin = 0, .count = kept.count};
  const Positions all = encoding.positions(pass, 0, length);
  for (std::size_t axis = 0; axis < all.axis.size(); ++axis) {
    if (all.axis[axis].empty() && axis > 0) continue;
    const std::span<Index> chosen = pass.indices(kept.count);
    for (Index row = 0; row < kept.count; ++row) {
      chosen[static_cast<std::size_t>(row)] = all.at(kept.at(row), axis);
    }
    result.axis[axis] = chosen;
  }
  return result;
}

Positions positions_of(Pass& pass, const PositionalEncoding& encoding, const Positions& rows) {
  return rows.axis[0].empty() ? encoding.positions(pass, rows.begin, rows.count)
                              : positions_of_kept(pass, encoding, rows);
}

/// The part of a draw that belongs to these rows.
Positions drawn_positions(Pass& pass, std::span<const Index> drawn, const Positions& rows) {
  Positions result{.begin = rows.begin, .count = rows.count};
  if (rows.axis[0].empty()) {
    result.axis[0] =
        drawn.subspan(static_cast<std::size_t>(rows.begin), static_cast<std::size_t>(rows.count));
    return result;
  }
  const std::span<Index> chosen = pass.indices(rows.count);
  for (Index row = 0; row < rows.count; ++row) {
    chosen[static_cast<std::size_t>(row)] = drawn[static_cast<std::size_t>(rows.at(row))];
  }
  result.axis[0] = chosen;
  return result;
}

}  // namespace

ModelPositions::MakeEncoding ModelPositions::registered(const PositionalConfig& config) {
  return [&config](const EncodingContext& context) {
    if (config.pattern.empty()) return make_encoding(config, context);
    PositionalConfig one = config;
    one.kind = context.kind;
    encoding_kind(one.kind, "positional.layers.pattern");
    return make_encoding(one, context);
  };
}

ModelPositions::ModelPositions(const ModelPlan& plan, const Scope& root, const MakeEncoding& make)
    : mask_(plan.positional.keys), randomized_(plan.positional.randomized) {
  const PositionalConfig& config = plan.positional;
  const Index layers = plan.model.layers;
  validate(config, plan.model, plan.train_length);
  for (const std::string& kind : config.kinds()) {
    encodings_.push_back({kind, make(context_of(plan, root, kind))});
    limit(encodings_.back().encoding->max_length(), kind);
  }
  if (randomized_.maximum > 0) limit(randomized_.maximum, randomized_name);
  for (Index layer = 0; layer < layers; ++layer) {
    std::size_t number = 0;
    while (encodings_[number].name != config.kind_of_layer(layer)) ++number;
    of_layer_.push_back(number);
  }
  score_scale_ = make_score_scale(
      config, {.heads = plan.model.heads, .layers = layers, .train_length = plan.train_length, .root = root});
  if (!score_scale_) return;
  for (Index layer = 0; layer < layers; ++layer) {
    if (!score_scale_->acts_in(layer)) continue;
    const Kind& kind = encodings_[of_layer_[static_cast<std::size_t>(layer)]];
    require<ConfigError>(kind.encoding->takes_query_scale(),
                         "positional.score.scale = \"{}\" with {} positions: they are counted with gates of "
                         "the score, which the scale would change; use one of the two",
                         config.score.scale, kind.name);
  }
}

void ModelPositions::limit(std::optional<Index> rows, std::string_view by) {
  if (!rows || (limit_ && *limit_ <= *rows)) return;
  limit_ = rows;
  limited_by_ = by;
}

std::optional<Index> ModelPositions::max_rows() const {
  std::optional<Index> least;
  for (const Kind& kind : encodings_) {
    const std::optional<Index> rows = kind.encoding->max_rows();
    if (rows && (!least || *rows < *least)) least = rows;
  }
  return least;
}

void ModelPositions::require_length(Index rows) const {
  if (!limit_ || rows <= *limit_) return;
  require<ShapeError>(limited_by_ != randomized_name,
                      "transformer: randomized positions are drawn from [0, {}); row {} was asked for; use a "
                      "shorter window, or train with a larger positional.randomized.maximum",
                      *limit_, rows);
  fail<ShapeError>(
      "transformer: {} positions end after row {}; row {} was asked for; use a shorter window, or "
      "settings that reach further",
      limited_by_, *limit_, rows);
}

// One draw for the whole context, and so the same for every chunk of it, for queries and for keys.
std::span<const Index> ModelPositions::draw(Pass& pass, Index rows, bool cached) const {
  require<ShapeError>(!cached || pass.declared_context > 0,
                      "transformer: randomized positions are drawn for the whole context at once, and a pass "
                      "over a cache does not know it; set the declared context of the pass");
  const Index context = pass.declared_context > 0 ? pass.declared_context : rows;
  require<ShapeError>(
      rows <= context,
      "transformer: randomized positions were drawn for a declared context of {} rows; row {} "
      "was asked for",
      context, rows);
  const std::span<Index> drawn =
      draw_positions(pass.tape.arena(), pass.position_key, context, randomized_.maximum);
  for (Index& position : drawn) position += pass.position_shift;
  return drawn;
}

std::span<const PassPositions> ModelPositions::of_pass(Pass& pass, Index begin, Index count,
                                                       const Positions* cached) const {
  const Positions rows{.begin = begin, .count = count};
  const std::span<PassPositions> all(pass.tape.arena().allocate_array<PassPositions>(encodings_.size()),
                                     encodings_.size());
  const bool samples = pass.tape.recording() || randomized_.evaluation == "sample";
  if (randomized_.maximum > 0 && samples) {
    const std::span<const Index> drawn = draw(pass, begin + count, cached != nullptr);
    PassPositions one;
    one.query = one.key = drawn_positions(pass, drawn, rows);
    if (cached != nullptr) one.key = drawn_positions(pass, drawn, *cached);
    std::uninitialized_fill(all.begin(), all.end(), one);
    return all;
  }
  for (std::size_t number = 0; number < all.size(); ++number) {
    const PositionalEncoding& encoding = *encodings_[number].encoding;
    PassPositions* one = new (&all[number]) PassPositions;
    one->query = one->key = encoding.positions(pass, begin, count);
    if (cached != nullptr) one->key = positions_of(pass, encoding, *cached);
  }
  return all;
}

Var ModelPositions::add_to_input(Pass& pass, Var x, std::span<const PassPositions> all) const {
  for (std::size_t number = 0; number < all.size(); ++number) {
    x = encodings_[number].encoding->add_to_input(pass, x, all[number].query);
  }
  return x;
}

LayerPositions ModelPositions::of_layer(Pass& pass, std::span<const PassPositions> all, Index layer,
                                        bool cached) const {
  const PositionalEncoding& encoding = this->encoding(layer);
  const PassPositions& own = all[number_of(layer)];
  LayerPositions here;
  here.cached_keys = encoding.cached_keys();
  const bool all_keys = cached && here.cached_keys == CachedKeys::raw;
  here.query = encoding.rotation(pass, Role::query, own.query, own, layer);
  here.key = encoding.rotation(pass, Role::key, all_keys ? own.key : own.query, own, layer);
  here.terms = encoding.score_terms(pass, own, layer);
  here.terms.mask = mask_.limited_to(pass.key_limit);
  if (!score_scale_) return here;
  const Var factors = score_scale_->factors(pass, own, layer);
  Var& scale = here.terms.query_scale;  // an encoding may have one of its own
  if (factors) scale = scale ? multiply(scale, factors) : factors;
  return here;
}

}  // namespace tapeline::inline TAPELINE_PRECISION
