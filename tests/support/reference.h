#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/random.h"
#include "core/tape.h"
#include "core/tensor.h"

/// Plain loops that say what the ops mean, and small helpers for their tests. Everything here sums in double.
namespace tapeline::inline TAPELINE_PRECISION {

/// Standard normal numbers times `deviation`, the same for the same name.
inline Storage random_storage(const Shape& shape, std::string_view name, double deviation = 1) {
  Storage storage(shape);
  const RandomKey key = random_key(7, name);
  for (Index i = 0; i < shape.size(); ++i) {
    storage.data()[i] = static_cast<Real>(deviation * random_normal(key, static_cast<std::uint64_t>(i)));
  }
  return storage;
}

/// The given numbers under a shape of as many elements.
inline Storage filled_storage(const Shape& shape, const std::vector<double>& numbers) {
  Storage storage(shape);
  for (Index i = 0; i < shape.size(); ++i) {
    storage.data()[i] = static_cast<Real>(numbers.at(static_cast<std::size_t>(i)));
  }
  return storage;
}

/// The numbers of a tensor in double.
inline std::vector<double> numbers_of(const Tensor& tensor) {
  return {tensor.data, tensor.data + tensor.size()};
}

/// The largest |a - b| / (1 + |b|); infinite where the counts differ or a number is not one.
inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return HUGE_VAL;
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(a[i] - b[i]) / (1 + std::abs(b[i]));
    if (!(difference <= largest)) largest = std::isnan(difference) ? HUGE_VAL : difference;
  }
  return largest;
}

/// What the precision of this build promises after a short computation.
inline double rounding() { return sizeof(Real) == 8 ? 1e-12 : 1e-5; }

/// C = op(A) op(B), op(A) [m, k], op(B) [k, n], all row-major.
inline std::vector<double> naive_matmul(const std::vector<double>& a, const std::vector<double>& b, Index m,
                                        Index n, Index k, bool transpose_a = false,
                                        bool transpose_b = false) {
  std::vector<double> c(static_cast<std::size_t>(m * n), 0.0);
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < n; ++j) {
      double sum = 0;
      for (Index p = 0; p < k; ++p) {
        sum += a[static_cast<std::size_t>(transpose_a ? p * m + i : i * k + p)] *
               b[static_cast<std::size_t>(transpose_b ? j * k + p : p * n + j)];
      }
      c[static_cast<std::size_t>(i * n + j)] = sum;
    }
  }
  return c;
}

/// softmax of every row of `columns` numbers; a row of -infinity everywhere gives zeros.
inline std::vector<double> naive_softmax(std::vector<double> rows, Index columns) {
  for (std::size_t begin = 0; begin < rows.size(); begin += static_cast<std::size_t>(columns)) {
    double largest = -HUGE_VAL;
    for (Index c = 0; c < columns; ++c)
      largest = std::fmax(largest, rows[begin + static_cast<std::size_t>(c)]);
    double total = 0;
    for (Index c = 0; c < columns; ++c) {
      double& x = rows[begin + static_cast<std::size_t>(c)];
      x = largest == -HUGE_VAL ? 0 : std::exp(x - largest);
      total += x;
    }
    for (Index c = 0; total > 0 && c < columns; ++c) rows[begin + static_cast<std::size_t>(c)] /= total;
  }
  return rows;
}

/// A tape with everything it needs, for tests.
class TestTape {
 public:
  explicit TestTape(Recording recording = Recording::on) : tape_(arena_, gradients_, recording) {}
  Tape& operator*() { return tape_; }
  Tape* operator->() { return &tape_; }
  Arena& arena() { return arena_; }
  GradientPool& gradients() { return gradients_; }

 private:
  Arena arena_;
  GradientPool gradients_;
  Tape tape_;
};

/// sum_i weights[i] * x[i] -> []: makes a number to run backward from, with a gradient of its own for every
/// element. Independent of the ops under test.
inline Var weighted_sum(Var x, const Tensor& weights) {
  const Tensor value = x.tape().allocate({});
  double total = 0;
  for (Index i = 0; i < x.value().size(); ++i) {
    total += static_cast<double>(weights.data[i]) * static_cast<double>(x.value().data[i]);
  }
  *value.data = static_cast<Real>(total);
  const Real* w = weights.data;
  return x.tape().record("weighted_sum", value, {x}, [x, w](Var output) {
    const Real d_total = *output.grad().data;
    const Tensor d_x = x.grad();
    for (Index i = 0; i < d_x.size(); ++i) d_x.data[i] += w[i] * d_total;
  });
}

}  // namespace tapeline::inline TAPELINE_PRECISION
