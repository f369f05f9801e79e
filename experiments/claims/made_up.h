#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "core/score_terms.h"
#include "layers/transformer.h"

/// Small models and rows of random numbers that the computations of claims are run on.
namespace tapeline {

/// A plan of that kind: width / heads features a head, two layers, vocabulary 256, seed 0.
ModelPlan claim_plan(std::string_view kind, Index width = 128, Index heads = 2, Index train_length = 64);
/// The same with an option of its kind set.
ModelPlan with_kind_option(ModelPlan plan, const std::string& name, OptionValue value);

/// `count` standard normal numbers, the same at every call with this name.
std::vector<double> normal_numbers(Index count, std::string_view name);
/// As a tensor; it owns its numbers.
Storage as_storage(const Shape& shape, const std::vector<double>& numbers);

/// The model with every parameter moved by normal numbers of deviation 0.3, within its bounds: freshly made,
/// attention is nearly uniform and tells little.
Transformer stirred_model(const ModelPlan& plan);
/// The same without positions, whatever encodings the build has, and with any mask.
Transformer positionless_model(Index layers, const KeyMask& mask);

/// The rows before the head, [T][C], of one sequence; positions moved on by `shift`.
std::vector<double> hidden_rows(const Transformer& model, const std::vector<Token>& ids, Index shift = 0);

/// The output of attention, [H, Tq, D], of q [H, Tq, D] over k, v [H, Tk, D]; `terms` is made on the tape
/// that everything runs on.
std::vector<double> attention_output(const Storage& q, const Storage& k, const Storage& v,
                                     const std::function<ScoreTerms(Tape&)>& terms);
/// The weights of one head whose queries and keys are all 0, [T, T]: what mask and bias make of them alone.
std::vector<double> weights_of_terms(Index rows, const std::function<ScoreTerms(Tape&)>& terms);

/// The largest |a - b| of numbers one by one.
double largest_difference(const std::vector<double>& a, const std::vector<double>& b);
/// sqrt(mean(x^2)).
double root_mean_square(const std::vector<double>& numbers);

/// How a curve by distance, from distance 0 on, falls. A rise smaller than `rounding` is none.
struct Fall {
  Index rises = 0;
  Index first_rise = 0;    ///< the distance before the first one
  bool means_fall = true;  ///< the means over distances 1, 2-3, 4-7, 8-15 ... fall from one to the next
};
Fall fall_of(const std::vector<double>& curve, double rounding);

}  // namespace tapeline
