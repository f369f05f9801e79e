#include "layers/init.h"

#include <algorithm>
#include <cmath>

namespace tapeline::inline TAPELINE_PRECISION {

Initializer normal(double deviation) {
  return [deviation](Tensor value, RandomKey key) {
    for (Index i = 0; i < value.size(); ++i) {
      value.data[i] = static_cast<Real>(deviation * random_normal(key, static_cast<std::uint64_t>(i)));
    }
  };
}

Initializer zeros() {
  return [](Tensor value, RandomKey) { std::fill_n(value.data, value.size(), Real{0}); };
}

Initializer ones() {
  return [](Tensor value, RandomKey) { std::fill_n(value.data, value.size(), Real{1}); };
}

double residual_deviation(Index layers) {
  return initial_deviation / std::sqrt(2.0 * static_cast<double>(layers));
}

}  // namespace tapeline::inline TAPELINE_PRECISION
