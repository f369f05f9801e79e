#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "layers/model_config.h"
#include "tests/conformance/golden_file.h"

/// What is asked of the library, and what it gives, in neither precision.
namespace tapeline::conformance {

/// What is computed of a case.
enum class Quantity {
  attention,    ///< q, k, v, dout [H, L, D] -> out, and the gradients dq, dk, dv, d_<array>
  input,        ///< x [L, C], Wq, Wk, Wv, dout -> y = x + encoding, out, dx, d_<array>
  added_rows,   ///< pe [L, C]: what is added to rows of zeros
  frequencies,  ///< inv_freq [r/2] and cos_sin_factor, from the rotation of position 1
  angles,       ///< cos, sin [L, r/2]: the tables of the rotation
  turned,       ///< q, k [H, L, D] after their rotation
  bias,         ///< [H, pairs]: what is added to the score of a pair of positions
  row_of_pair,  ///< [pairs]: the row of the table of relative vectors, counted from its middle
  factor        ///< [positions]: the factor on the scores of a query
};

/// How the numbers of an array stand in a parameter of the library.
enum class Arrangement {
  same,        ///< the same numbers in the same order
  transposed,  ///< the files have weights as [in, out], the library as [out, in]
  projected,   ///< [H, n, D] as the first n columns of a projection [H D, width], the others 0
  identity,    ///< no array: the identity matrix
  row_number   ///< no array: every number is that of its column
};

/// A parameter that a case gives values.
struct LearnedArray {
  std::string parameter;   ///< its last name: "slopes"
  std::string array;       ///< empty for an arrangement without array
  GoldenArray value = {};  ///< of that array
  Arrangement arrangement = Arrangement::same;
};

struct Work {
  Quantity quantity = Quantity::attention;
  PositionalConfig positional;
  bool made_causal = true;  ///< what the encoding is told of the mask
  Index width = 0, heads = 0, head_width = 0;
  Index train_length = 0, declared_context = 0;
  std::vector<LearnedArray> learned;
  std::map<std::string, GoldenArray> given;    ///< the inputs by name
  Index rows = 0;                              ///< rows of the pass
  std::vector<Index> positions;                ///< empty: those of the rows
  std::vector<std::pair<Index, Index>> pairs;  ///< bias, row_of_pair: query and key position
  std::string result;                          ///< bias, row_of_pair, factor: the array that is compared
  double bias_factor = 1;                      ///< bias: what is compared is so many times the bias
  std::optional<double> at_zero;  ///< bias: what it is to be at distance 0, since a constant a head is free
};

struct FoundArray {
  std::string array;
  std::vector<double> numbers;
  bool gradient = false;
};

/// What the library gives in single and in double precision; the first operand tells which. Throws
/// ConfigError, ShapeError or StateError where it cannot.
std::vector<FoundArray> compute(float, const Work& work);
std::vector<FoundArray> compute(double, const Work& work);

}  // namespace tapeline::conformance
