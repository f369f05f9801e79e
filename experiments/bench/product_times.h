#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/kernels/gemm.h"
#include "core/tensor.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Matrix products on memory of their own, each timed by every choice of this build: {OpenBLAS, oneDNN} x
/// {library threads, rows split by us}.
class ProductTimes {
 public:
  /// What a linear layer is asked for: its output, or also the gradients of its input and of its weight.
  enum class Run { forward, training };

  // Each of these throws ConfigError where the operands would not fit into memory.

  /// C [m, n] = A [m, k] B [k, n].
  void add_product(const std::string& name, Index m, Index n, Index k);
  /// `count` times the products of a linear layer over `rows` rows: y = x W^T; dX = dY W; dW = dY^T X.
  void add_linear(const std::string& name, Index rows, Index in, Index out, Index count, Run run);
  /// One row through `layers` linear layers, each with a weight of its own, so that the weights come from
  /// where those of a model come from: memory, when there are many. Each choice is tried with W and x in
  /// both orders, y = x W^T and y^T = W x^T.
  void add_row(const std::string& name, Index in, Index out, Index layers);

  /// Times every product once by every choice; the first time after a run that sets the libraries up.
  void measure();

  /// How a product came out by one choice.
  struct Time {
    GemmChoice choice;
    std::string name;    ///< "OpenBLAS, rows split"
    double seconds = 0;  ///< of one product, median
  };
  /// One kind of product.
  struct Line {
    std::string name;  ///< "feed-forward in, dW"
    Index m = 0, n = 0, k = 0, count = 0;
    std::vector<Time> times;
    std::size_t fastest = 0;
    std::size_t rule = 0;  ///< what choose_gemm() takes

    double flops() const { return 2.0 * static_cast<double>(m) * static_cast<double>(n * k); }
    double fastest_seconds() const { return times[fastest].seconds; }
    double rule_seconds() const { return times[rule].seconds; }
    /// What the rule takes longer than the fastest choice, as a share of the latter.
    double rule_loss() const { return rule_seconds() / fastest_seconds() - 1; }
  };
  std::vector<Line> lines() const;
  /// Of all products, each as often as it is counted, by its fastest choice.
  double seconds() const;

 private:
  struct Alternative {
    GemmChoice choice;
    std::string name;
    std::vector<Gemm> gemms;  ///< timed one after another
    std::vector<double> seconds = {};
  };
  struct Product {
    std::string name;
    Index m, n, k, count;
    std::vector<Alternative> alternatives;
  };
  /// Of the next product, before any of them is made. Throws ConfigError where there is not enough memory.
  void require_numbers(double count);
  Real* numbers(const Shape& shape, const std::string& name);
  Real* room(Index count);
  void add(const std::string& name, const Gemm& gemm, Index count);

  std::vector<Storage> memory_;
  std::vector<Product> products_;
  double numbers_ = 0;  // in memory_
  bool warm_ = false;
};

}  // namespace tapeline::inline TAPELINE_PRECISION
