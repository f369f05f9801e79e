#include "experiments/bench/product_times.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/bench/gemm_choices.h"
#include "experiments/bench/limits.h"
#include "experiments/bench/made_up.h"
#include "experiments/bench/stopwatch.h"
#include "experiments/median.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

double matrix(Index rows, Index columns) { return static_cast<double>(rows) * static_cast<double>(columns); }

}  // namespace

void ProductTimes::require_numbers(double count) {
  numbers_ += count;
  require_room("bench: what the products alone work on", numbers_ * sizeof(Real));
}

Real* ProductTimes::numbers(const Shape& shape, const std::string& name) {
  return memory_.emplace_back(made_up_numbers(shape, name)).data();
}

Real* ProductTimes::room(Index count) { return memory_.emplace_back(Shape{count}, "made-up results").data(); }

void ProductTimes::add(const std::string& name, const Gemm& gemm, Index count) {
  Product& product = products_.emplace_back(Product{name, gemm.m, gemm.n, gemm.k, count, {}});
  for (const NamedChoice& choice : gemm_choices())
    product.alternatives.push_back({choice.choice, std::string(choice.name), {gemm}});
}

void ProductTimes::add_product(const std::string& name, Index m, Index n, Index k) {
  require_numbers(matrix(m, k) + matrix(k, n) + matrix(m, n));
  const Real* const a = numbers({m, k}, name + " a");
  const Real* const b = numbers({k, n}, name + " b");
  add(name, {false, false, m, n, k, a, k, b, n, 0, room(m * n), n}, 1);
}

void ProductTimes::add_linear(const std::string& name, Index rows, Index in, Index out, Index count,
                              Run run) {
  require_numbers(matrix(rows, in) + matrix(out, in) +
                  (run == Run::forward ? matrix(rows, out)
                                       : matrix(rows, out) + matrix(std::max(rows, out), std::max(in, out))));
  const Real* const x = numbers({rows, in}, name + " x");
  const Real* const w = numbers({out, in}, name + " w");
  if (run == Run::forward) {
    add(name + ", forward", {false, true, rows, out, in, x, in, w, in, 0, room(rows * out), out}, count);
    return;
  }
  const Real* const y = numbers({rows, out}, name + " y");
  Real* const result = room(std::max(rows, out) * std::max(in, out));
  add(name + ", forward", {false, true, rows, out, in, x, in, w, in, 0, result, out}, count);
  add(name + ", dX", {false, false, rows, in, out, y, out, w, in, 0, result, in}, count);
  add(name + ", dW", {true, false, out, in, rows, y, out, x, in, 0, result, in}, count);
}

void ProductTimes::add_row(const std::string& name, Index in, Index out, Index layers) {
  require_numbers(matrix(layers * out, in) + matrix(1, in + out));
  const Real* const x = numbers({in}, name + " x");
  const Real* const w = numbers({layers, out, in}, name + " w");
  Real* const y = room(out);
  std::vector<Gemm> rows, columns;
  for (Index layer = 0; layer < layers; ++layer) {
    const Real* const own = w + layer * out * in;
    rows.push_back({false, true, 1, out, in, x, in, own, in, 0, y, out});
    columns.push_back({false, false, out, 1, in, own, in, x, 1, 0, y, 1});
  }
  Product& product = products_.emplace_back(Product{name, 1, out, in, layers, {}});
  for (const NamedChoice& choice : gemm_choices())
    product.alternatives.push_back({choice.choice, std::string(choice.name), rows});
  for (const NamedChoice& choice : gemm_choices())
    product.alternatives.push_back({choice.choice, fmt::format("{}, W x", choice.name), columns});
}

void ProductTimes::measure() {
  for (Product& product : products_) {
    for (Alternative& alternative : product.alternatives) {
      const auto once = [&] {
        for (const Gemm& one : alternative.gemms) gemm(one, alternative.choice);
      };
      if (!warm_) once();
      alternative.seconds.push_back(seconds_of(once) / static_cast<double>(alternative.gemms.size()));
    }
  }
  warm_ = true;
}

std::vector<ProductTimes::Line> ProductTimes::lines() const {
  std::vector<Line> lines;
  for (const Product& product : products_) {
    Line& line = lines.emplace_back(Line{product.name, product.m, product.n, product.k, product.count, {}});
    const GemmChoice chosen = choose_gemm(product.alternatives.front().gemms.front());
    bool rule_found = false;
    for (const Alternative& alternative : product.alternatives) {
      line.times.push_back({alternative.choice, alternative.name, median(alternative.seconds)});
      const std::size_t place = line.times.size() - 1;
      if (line.times[place].seconds < line.fastest_seconds()) line.fastest = place;
      if (rule_found || alternative.choice.library != chosen.library ||
          alternative.choice.split != chosen.split)
        continue;
      line.rule = place;
      rule_found = true;
    }
  }
  return lines;
}

double ProductTimes::seconds() const {
  double total = 0;
  for (const Line& line : lines()) total += line.fastest_seconds() * static_cast<double>(line.count);
  return total;
}

}  // namespace tapeline::inline TAPELINE_PRECISION
