#include "experiments/claims/rotation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/ops.h"
#include "experiments/claims/made_up.h"
#include "experiments/claims/subjects.h"
#include "experiments/encodings/probe.h"
#include "layers/positional/frequencies.h"

namespace tapeline {
namespace {

constexpr double rotation_rounding = 1e-5;

/// The vector in one head, standing at positions 0 .. count-1 and turned as the encoding turns it there:
/// [count][width].
std::vector<double> turned_rows(const EncodingView& view, Role role, const std::vector<double>& vector,
                                Index count) {
  Probe probe(count);
  const auto width = static_cast<Index>(vector.size());
  const Storage rows({1, 1, count, width});
  for (Index row = 0; row < count; ++row) {
    std::ranges::transform(vector, rows.data() + row * width, [](double x) { return static_cast<Real>(x); });
  }
  const PassPositions all = rows_seen(probe, view.encoding(0), count);
  const Rotation rotation = view.encoding(0).rotation(probe.pass, role, all.query, all, 0);
  const Var before = probe.tape.constant(rows.tensor());
  const Tensor after = (rotation ? rotate(before, rotation) : before).value();
  return {after.data, after.data + after.size()};
}

double dot(const double* a, const double* b, std::size_t width) {
  double sum = 0;
  for (std::size_t at = 0; at < width; ++at) sum += a[at] * b[at];
  return sum;
}
double norm_of(const std::vector<double>& vector) {
  return std::sqrt(dot(vector.data(), vector.data(), vector.size()));
}

/// One query and one key at every position, and their products.
struct TurnedPair {
  TurnedPair(const EncodingView& view, const std::vector<double>& query, const std::vector<double>& key,
             Index count)
      : width(query.size()),
        queries(turned_rows(view, Role::query, query, count)),
        keys(turned_rows(view, Role::key, key, count)) {}
  double product(Index query, Index key) const {
    return dot(queries.data() + static_cast<std::size_t>(query) * width,
               keys.data() + static_cast<std::size_t>(key) * width, width);
  }
  std::size_t width;
  std::vector<double> queries, keys;
};

Index never_turning_pairs(const EncodingView& view) {
  const RotationView rotation = view_rotation(view, 0, view.plan().train_length).value();
  return std::ranges::count_if(rotation.wavelengths, [&](double wavelength) {
    return wavelength > static_cast<double>(view.plan().train_length);
  });
}

std::string slow_pairs_text(const EncodingView& view) {
  return fmt::format("{} of {} pairs at length {}", never_turning_pairs(view),
                     view.plan().model.head_width() / 2, view.plan().train_length);
}

/// The features of a row made for halves, (p, p + r/2), where neighbours, (2p, 2p + 1), look for them.
std::vector<double> for_neighbours(const std::vector<double>& row) {
  std::vector<double> permuted(row.size());
  const std::size_t half = row.size() / 2;
  for (std::size_t pair = 0; pair < half; ++pair) {
    permuted[2 * pair] = row[pair];
    permuted[2 * pair + 1] = row[pair + half];
  }
  return permuted;
}

}  // namespace

double largest_norm_change(const EncodingView& view, Index count) {
  const std::vector<double> vector = normal_numbers(view.plan().model.head_width(), "norms");
  const std::vector<double> rows = turned_rows(view, Role::query, vector, count);
  const double before = norm_of(vector);
  double largest = 0;
  for (std::size_t begin = 0; begin < rows.size(); begin += vector.size()) {
    const double after = std::sqrt(dot(rows.data() + begin, rows.data() + begin, vector.size()));
    largest = std::max(largest, std::abs(after / before - 1));
  }
  return largest;
}

ClaimFinding rotation_keeps_norms(const EncodingView& halves, const EncodingView& neighbours) {
  constexpr Index count = 4096;
  const double largest = std::max(largest_norm_change(halves, count), largest_norm_change(neighbours, count));
  return {
      largest <= rotation_rounding ? ClaimVerdict::is_true : ClaimVerdict::is_false,
      fmt::format("largest relative change {:.2g} at positions 0 … {}, both pairings", largest, count - 1)};
}

ClaimFinding rotation_knows_the_offset(const EncodingView& view) {
  constexpr Index count = 4096;
  const Index width = view.plan().model.head_width();
  const std::vector<double> query = normal_numbers(width, "query"), key = normal_numbers(width, "key");
  const TurnedPair pair(view, query, key, count);
  double largest = 0;
  for (const Index offset : {Index{0}, Index{1}, Index{7}, Index{64}, Index{512}}) {
    const double first = pair.product(offset, 0);
    for (Index at = offset; at < count; ++at) {
      largest = std::max(largest, std::abs(pair.product(at, at - offset) - first));
    }
  }
  largest /= norm_of(query) * norm_of(key);
  return {
      largest <= rotation_rounding ? ClaimVerdict::is_true : ClaimVerdict::is_false,
      fmt::format("at offsets 0, 1, 7, 64, 512 products differ by at most {:.2g} |q||k| between positions up "
                  "to {}",
                  largest, count - 1)};
}

ClaimFinding rotation_falls(const EncodingView& view) {
  const std::vector<double> decay = view_rotation(view, 0, 1024).value().decay;
  const Fall fall = fall_of(decay, 1e-6);
  if (fall.rises == 0) return {ClaimVerdict::is_true, "no rise at distances up to 1023"};
  return {fall.means_fall ? ClaimVerdict::on_average : ClaimVerdict::is_false,
          fmt::format("of the product of equal vectors of ones {:.0f} % are left at distance 64, {:.0f} % at "
                      "1023; it rises at {} of 1023 steps, its means over distances 1, 2-3, 4-7, ... {}",
                      100 * decay[64], 100 * decay[1023], fall.rises,
                      fall.means_fall ? "all fall" : "do not all fall")};
}

ClaimFinding rotation_falls_for_any(const EncodingView& view) {
  constexpr Index draws = 256, count = 1024;
  const Index width = view.plan().model.head_width();
  std::vector<double> near, far;
  for (Index draw = 0; draw < draws; ++draw) {
    const TurnedPair pair(view, normal_numbers(width, fmt::format("query {}", draw)),
                          normal_numbers(width, fmt::format("key {}", draw)), count);
    for (Index distance = 1; distance <= 8; ++distance)
      near.push_back(pair.product(count - 1, count - 1 - distance));
    for (Index distance = 512; distance < count; ++distance)
      far.push_back(pair.product(count - 1, count - 1 - distance));
  }
  const double unit = std::sqrt(static_cast<double>(width));
  const double at_near = root_mean_square(near) / unit, at_far = root_mean_square(far) / unit;
  return {
      at_far < 0.9 * at_near ? ClaimVerdict::is_true : ClaimVerdict::is_false,
      fmt::format("rms of q·k/√d of random q and k: {:.2f} at distances 1-8, {:.2f} at 512-1023 ({} draws)",
                  at_near, at_far, draws)};
}

ClaimFinding rotation_has_slow_pairs(const EncodingView& view, const EncodingView& small) {
  return {
      never_turning_pairs(view) > 0 ? ClaimVerdict::is_true : ClaimVerdict::is_false,
      fmt::format("{} (head width {}), {} (head width {})", slow_pairs_text(view),
                  view.plan().model.head_width(), slow_pairs_text(small), small.plan().model.head_width())};
}

ClaimFinding rotation_pairings_agree(const EncodingView& halves, const EncodingView& neighbours) {
  constexpr Index count = 64;
  const Index width = halves.plan().model.head_width();
  const std::vector<double> query = normal_numbers(width, "query"), key = normal_numbers(width, "key");
  const TurnedPair by_halves(halves, query, key, count);
  const TurnedPair permuted(neighbours, for_neighbours(query), for_neighbours(key), count);
  const TurnedPair as_is(neighbours, query, key, count);
  double largest = 0, without = 0;
  for (Index i = 0; i < count; ++i) {
    for (Index j = 0; j <= i; ++j) {
      largest = std::max(largest, std::abs(by_halves.product(i, j) - permuted.product(i, j)));
      without = std::max(without, std::abs(by_halves.product(i, j) - as_is.product(i, j)));
    }
  }
  const double norms = norm_of(query) * norm_of(key);
  return {
      largest / norms <= rotation_rounding ? ClaimVerdict::is_true : ClaimVerdict::is_false,
      fmt::format("products differ by at most {:.2g} |q||k| with the features permuted, by {:.2g} without",
                  largest / norms, without / norms)};
}

ClaimFinding rotation_in_first_layer(const EncodingView& view) {
  const Index layers = view.plan().model.layers;
  Index turned = 0, beyond_first = 0;
  for (Index layer = 0; layer < layers; ++layer) {
    if (!view_rotation(view, layer, 2)) continue;
    ++turned;
    beyond_first += layer > 0 ? 1 : 0;
  }
  return {turned == 1 && beyond_first == 0 ? ClaimVerdict::is_true : ClaimVerdict::is_false,
          fmt::format("queries and keys are turned in {} of {} layers", turned, layers)};
}

double float_angle_error(Index position) {
  constexpr Index pairs = 64, positions = 512;
  double largest = 0;
  for (const double frequency : geometric_frequencies(pairs, 10000, pairs)) {
    for (Index at = std::max<Index>(position - positions + 1, 0); at <= position; ++at) {
      const float angle = static_cast<float>(at) * static_cast<float>(frequency);
      largest = std::max(largest, std::abs(std::cos(static_cast<double>(angle)) -
                                           std::cos(static_cast<double>(at) * frequency)));
    }
  }
  return largest;
}

}  // namespace tapeline
