#pragma once

#include <span>

#include "core/real.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// The negative log-likelihood of one target a row under softmax(logits + bias), shifted by the row's
/// maximum. Serves a chunk of rows; parallel inside.
struct SoftmaxLoss {
  Index rows = 0, vocabulary = 0;
  Real* logits = nullptr;          ///< [rows, vocabulary]; overwritten
  const Real* bias = nullptr;      ///< [vocabulary], or absent
  const Token* targets = nullptr;  ///< [rows]; -1: not scored
  double* losses = nullptr;        ///< [rows] nats; 0 where not scored, NaN where a logit is NaN or +infinity
  bool gradient = false;           ///< logits become d loss / d logits: softmax - one at the target, or 0
};
void softmax_loss(const SoftmaxLoss& arguments);

}  // namespace tapeline::inline TAPELINE_PRECISION
