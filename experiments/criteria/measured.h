#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/statistics/bootstrap.h"
#include "experiments/statistics/estimate.h"

namespace tapeline {

/// A figure that is a sum of measured losses, seed by seed, with what they were measured on behind it, so
/// that its interval over seeds and the one over the text both follow. In nats a byte where it is a loss.
struct Measured {
  /// `weight` times the mean of the losses in the segments of each seed's evaluation.
  struct Term {
    double weight = 1;
    std::map<std::uint64_t, std::vector<SegmentLoss>> blocks;
  };

  BySeed values;
  std::vector<Term> terms;            ///< empty: there is no interval over the text
  Index tokens = 0;                   ///< targets scored; 0: not a loss
  std::string missing;                ///< why there is no figure at all; empty when there is one
  std::vector<std::string> left_out;  ///< "rope, seed 1, diverged in training", each once

  /// The block bootstrap over the text, of the mean of the models of all seeds in `values`.
  BootstrapInterval over_text() const;
};

/// Seed by seed, of the seeds that both have. Losses over different targets cannot be compared: there is no
/// figure then, and it says so.
Measured operator-(const Measured& a, const Measured& b);
Measured operator+(const Measured& a, const Measured& b);
Measured operator*(double factor, const Measured& measured);

/// A figure that is missing for a reason.
Measured nothing_measured(std::string why);

}  // namespace tapeline
