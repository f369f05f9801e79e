#include "layers/positional/frequencies.h"

#include <cmath>

namespace tapeline {

void fill_geometric(std::span<double> frequencies, double base, double of) {
  for (std::size_t p = 0; p < frequencies.size(); ++p) {
    frequencies[p] = std::pow(base, -static_cast<double>(p) / of);
  }
}

std::vector<double> geometric_frequencies(Index count, double base, double of) {
  std::vector<double> frequencies(static_cast<std::size_t>(count));
  fill_geometric(frequencies, base, of);
  return frequencies;
}

}  // namespace tapeline
