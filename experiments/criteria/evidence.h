#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/compare/comparison.h"
#include "experiments/criteria/measured.h"

namespace tapeline {

/// The models of one variant, seed by seed, as they were trained.
struct Encoding {
  std::string kind;          ///< "alibi"
  std::string variant;       ///< the name in the comparison; empty: there is no such model
  std::string absent;        ///< then: why
  Index train_length = 0;    ///< L
  double training_work = 0;  ///< floating-point operations of a trained token
  std::vector<const FinishedCell*> cells;

  /// `times` the trained length; 0 when that is no whole number.
  Index length(double times) const;

  /// The mean loss of one evaluation, nats a byte.
  Measured loss(const EvaluationCell& cell) const;
  /// Of non-overlapping windows on the whole scored set.
  Measured loss(Index window) const;
  /// The same at `times` the trained length.
  Measured loss_at(double times) const;
  /// Of the positions (T/2, T] of these windows.
  Measured tail_at(double times) const;
  /// log R: loss_at(times) - loss_at(1).
  Measured log_ratio(double times) const;
  /// The same with full history at both lengths, on the sliding subset: sliding windows at `times` the
  /// trained length (of the largest stride below the window that was evaluated), less full_history() at it.
  Measured log_sliding_ratio(double times) const;
  /// The same of the tails.
  Measured log_tail_ratio(double times) const;
  /// s: of sliding windows of L with stride 1, so that every target has L tokens before it.
  Measured full_history() const;
  /// Of non-overlapping windows on the sliding subset, at `times` the trained length.
  Measured subset_loss_at(double times) const;
  /// g: subset_loss_at(1) - full_history().
  Measured early_token_gap() const;
  /// What curse_only_residual() is of one model, by curse_only_loss().
  Measured residual_at(double times) const;
  /// The logarithm of the tokens trained on in a second.
  Measured log_training_speed() const;
};

/// Finds the named encodings among the variants of a comparison.
class Evidence {
 public:
  explicit Evidence(const Comparison& comparison);

  /// The plain variant of that kind (see is_plain()): the one that bears the kind's name, else the first.
  /// `train_length`: only of models trained at that length; 0: any.
  Encoding find(std::string_view kind, Index train_length = 0) const;
  /// learned, sinusoidal, rope and alibi, as far as they were compared.
  std::vector<Encoding> core() const;
  /// Every trained length of a kind with its default settings, ascending.
  std::vector<Encoding> by_trained_length(std::string_view kind) const;

  const Comparison& comparison() const { return comparison_; }

 private:
  const Comparison& comparison_;
  std::vector<Encoding> encodings_;
};

}  // namespace tapeline
