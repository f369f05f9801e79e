#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "layers/attention.h"
#include "layers/positional/registry.h"
#include "layers/positional/score_scale.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Where the layers of one model get their positions: an encoding a layer, those of one kind sharing one
/// object, and what wraps any of them: the mask, the score scale, randomized positions.
class ModelPositions {
 public:
  /// Makes one encoding, of context.kind.
  using MakeEncoding = std::function<std::unique_ptr<PositionalEncoding>(const EncodingContext&)>;
  /// Makes those that are registered, with the options of `config`, which must live as long.
  static MakeEncoding registered(const PositionalConfig& config);

  /// Registers the parameters below `root`. Throws ConfigError for a configuration that makes no sense.
  ModelPositions(const ModelPlan& plan, const Scope& root, const MakeEncoding& make);

  const PositionalEncoding& encoding(Index layer) const { return *encodings_[number_of(layer)].encoding; }
  /// The most rows a sequence may have: the least that an encoding holds, or the maximum of a randomized
  /// draw; nullopt: any number.
  std::optional<Index> max_length() const { return limit_; }
  /// What that limit is of: "learned", "randomized"; empty without one.
  const std::string& limited_by() const { return limited_by_; }
  /// The most rows that one pass may have, the least of what the encodings take; nullopt: any number.
  std::optional<Index> max_rows() const;
  /// Throws ShapeError, with both numbers, for more rows.
  void require_length(Index rows) const;

  /// The positions of one pass, an element for every encoding, in the pass's memory: of rows [begin, begin +
  /// count) and, with a cache, of the key rows that it holds for them (`cached`, by row number). Randomized
  /// positions are drawn here: in training (a tape that records), or where evaluation samples.
  std::span<const PassPositions> of_pass(Pass& pass, Index begin, Index count,
                                         const Positions* cached = nullptr) const;
  /// Every encoding's addition to the token rows, once each: x [B, T, C] -> [B, T, C].
  Var add_to_input(Pass& pass, Var x, std::span<const PassPositions> all) const;
  /// What one layer needs. `cached`: its keys come out of a cache.
  LayerPositions of_layer(Pass& pass, std::span<const PassPositions> all, Index layer, bool cached) const;

 private:
  struct Kind {
    std::string name;
    std::unique_ptr<PositionalEncoding> encoding;
  };
  std::size_t number_of(Index layer) const { return of_layer_[static_cast<std::size_t>(layer)]; }
  void limit(std::optional<Index> rows, std::string_view by);
  std::span<const Index> draw(Pass& pass, Index rows, bool cached) const;

  KeyMask mask_;
  RandomizedConfig randomized_;
  std::vector<Kind> encodings_;
  std::vector<std::size_t> of_layer_;  // by layer: which of them
  std::unique_ptr<ScoreScale> score_scale_;
  std::optional<Index> limit_;
  std::string limited_by_;
};

}  // namespace tapeline::inline TAPELINE_PRECISION
