#include "experiments/claims/linear_bias.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "experiments/claims/made_up.h"

namespace tapeline {
namespace {

constexpr double tested_slope = 0.5;

/// 2^(-8h/n), h = 1 .. n.
std::vector<double> geometric_slopes(Index heads) {
  std::vector<double> slopes;
  for (Index head = 1; head <= heads; ++head) {
    slopes.push_back(std::exp2(-8.0 * static_cast<double>(head) / static_cast<double>(heads)));
  }
  return slopes;
}

/// Rows of width features with one more at their end: extra(row).
Storage with_feature(const std::vector<double>& rows, Index width,
                     const std::function<double(Index)>& extra) {
  const auto count = static_cast<Index>(rows.size()) / width;
  Storage longer({1, count, width + 1});
  for (Index row = 0; row < count; ++row) {
    Real* const to = longer.data() + row * (width + 1);
    for (Index at = 0; at < width; ++at) {
      to[at] = static_cast<Real>(rows[static_cast<std::size_t>(row * width + at)]);
    }
    to[width] = static_cast<Real>(extra(row));
  }
  return longer;
}

double no_feature(Index) { return 0; }
double unit_feature(Index) { return 1; }

/// Causal attention in double, by the formula: the last `rows` rows of q over k and v, [keys][width], with a
/// bias of -tested_slope (i - j).
std::vector<double> exact_output(const std::vector<double>& q, const std::vector<double>& k,
                                 const std::vector<double>& v, Index rows, Index keys, Index width) {
  std::vector<double> output(static_cast<std::size_t>(rows * width));
  const double scale = 1 / std::sqrt(static_cast<double>(width));
  for (Index row = 0; row < rows; ++row) {
    const Index place = keys - rows + row;
    std::vector<double> scores(static_cast<std::size_t>(place + 1));
    for (Index key = 0; key <= place; ++key) {
      double product = 0;
      for (Index at = 0; at < width; ++at) {
        product +=
            q[static_cast<std::size_t>(row * width + at)] * k[static_cast<std::size_t>(key * width + at)];
      }
      scores[static_cast<std::size_t>(key)] =
          scale * product - tested_slope * static_cast<double>(place - key);
    }
    const double highest = std::ranges::max(scores);
    double sum = 0;
    for (double& score : scores) sum += score = std::exp(score - highest);
    for (Index key = 0; key <= place; ++key) {
      const double weight = scores[static_cast<std::size_t>(key)] / sum;
      for (Index at = 0; at < width; ++at) {
        output[static_cast<std::size_t>(row * width + at)] +=
            weight * v[static_cast<std::size_t>(key * width + at)];
      }
    }
  }
  return output;
}

/// Numbers as a float32 holds them.
std::vector<double> rounded(std::vector<double> numbers) {
  for (double& number : numbers) number = static_cast<double>(static_cast<float>(number));
  return numbers;
}

/// The first `width` features of rows of width + 1.
std::vector<double> without_feature(const std::vector<double>& rows, Index width) {
  std::vector<double> shorter;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    if (static_cast<Index>(at) % (width + 1) != width) shorter.push_back(rows[at]);
  }
  return shorter;
}

}  // namespace

std::vector<double> built_slopes(Index heads) {
  const EncodingView view(claim_plan("alibi", 2 * heads, heads));
  const BiasView seen = view_bias(view, 0, 2).value();
  std::vector<double> slopes;
  for (const auto& of_head : seen.bias) slopes.push_back(-of_head.front()[1]);
  return slopes;
}

ClaimFinding slopes_are_geometric(const SlopesOfHeads& slopes_of) {
  constexpr Index most = 128;
  std::vector<Index> agreeing;
  for (Index heads = 1; heads <= most; ++heads) {
    if (largest_difference(slopes_of(heads), geometric_slopes(heads)) < 1e-6) agreeing.push_back(heads);
  }
  if (agreeing.size() == static_cast<std::size_t>(most)) {
    return {ClaimVerdict::is_true, fmt::format("they are, for all numbers of heads up to {}", most)};
  }
  const auto last_of_twelve = [](const std::vector<double>& slopes) {
    return std::vector<double>(slopes.begin() + 8, slopes.begin() + 12);
  };
  return {ClaimVerdict::is_false,
          fmt::format("up to {} heads only for n = {}; 12 heads end in {:.4f}, where the formula has {:.4f}; "
                      "112 heads differ by up to {:.2f}",
                      most, fmt::join(agreeing, ", "), fmt::join(last_of_twelve(slopes_of(12)), ", "),
                      fmt::join(last_of_twelve(geometric_slopes(12)), ", "),
                      largest_difference(slopes_of(112), geometric_slopes(112)))};
}

ClaimFinding bias_rewards_the_future(const BiasOfDistance& bias) {
  constexpr Index rows = 32, middle = rows / 2;
  const std::vector<double> weights = weights_of_terms(rows, [&](Tape& tape) {
    const Tensor table = tape.allocate({1, 2 * rows - 1});
    for (Index at = 0; at < table.size(); ++at) table.data[at] = static_cast<Real>(bias(at - rows + 1));
    ScoreTerms terms;
    terms.mask.causal = false;
    terms.term = DistanceBias{.table = tape.constant(table), .first_distance = 1 - rows};
    return terms;
  });
  const auto row = weights.begin() + middle * rows;
  const double before = std::accumulate(row, row + middle, 0.0);
  const double after = std::accumulate(row + middle + 1, row + rows, 0.0);
  return {after > before ? ClaimVerdict::is_true : ClaimVerdict::is_false,
          fmt::format(
              "slope 1/2, {} equal keys: row {} gives {:.2f} % of its weight to the keys after it, {:.2f} % "
              "to those before it",
              rows, middle, 100 * after, 100 * before)};
}

ClaimFinding addition_changes_nothing(const AddedScore& added) {
  constexpr Index rows = 64, width = 16;
  const std::vector<double> q = normal_numbers(rows * width, "query"),
                            k = normal_numbers(rows * width, "key"),
                            v = normal_numbers(rows * width, "value");
  const auto terms = [](Tape&) {
    ScoreTerms plain;
    plain.scale = Real{0.25};
    return plain;
  };
  // Two products in one: q . k + 4 g(i) 1, or + 4 g(j) 1, before the scale of 1/4.
  const auto output = [&](const AddedScore& score) {
    const auto row_part = [&](Index row) { return score.by_row ? 4 * score.by_row(row) : 0; };
    const auto key_part = [&](Index key) { return score.by_key ? 4 * score.by_key(key) : 0; };
    const bool by_key = static_cast<bool>(score.by_key);
    const Storage queries = by_key ? with_feature(q, width, unit_feature) : with_feature(q, width, row_part);
    const Storage keys = by_key ? with_feature(k, width, key_part) : with_feature(k, width, unit_feature);
    return attention_output(queries, keys, with_feature(v, width, no_feature), terms);
  };
  const double largest = largest_difference(output({}), output(added));
  return {largest <= 1e-5 ? ClaimVerdict::is_true : ClaimVerdict::is_false,
          fmt::format("outputs of {} rows differ by at most {:.2g}", rows, largest)};
}

BiasErrors bias_errors(Index keys) {
  constexpr Index rows = 64, width = 16;
  const std::vector<double> q = rounded(normal_numbers(rows * width, "query")),
                            k = rounded(normal_numbers(keys * width, "key")),
                            v = rounded(normal_numbers(keys * width, "value"));
  const std::vector<double> exact = exact_output(q, k, v, rows, keys, width);
  const Storage values = with_feature(v, width, no_feature);
  const auto error = [&](const Storage& queries, const Storage& of_keys, bool by_distance) {
    const std::vector<double> output = attention_output(queries, of_keys, values, [&](Tape& tape) {
      ScoreTerms terms;
      terms.scale = Real{0.25};
      const Tensor slopes = tape.allocate({1});
      slopes.data[0] = static_cast<Real>(tested_slope);
      if (by_distance) terms.term = LinearBias{.slopes = tape.constant(slopes)};
      return terms;
    });
    return largest_difference(without_feature(output, width), exact);
  };
  const auto key_number = [](Index key) {
    return 4 * tested_slope * static_cast<double>(key);
  };  // exact in float32
  return {.by_key = error(with_feature(q, width, unit_feature), with_feature(k, width, key_number), false),
          .by_distance = error(with_feature(q, width, no_feature), with_feature(k, width, no_feature), true)};
}

ClaimFinding key_index_is_as_good(Index keys, const BiasErrors& errors) {
  const bool good = errors.by_key <= 1e-5 || errors.by_key <= 10 * errors.by_distance;
  return {good ? ClaimVerdict::is_true : ClaimVerdict::is_false,
          fmt::format("largest error of an output at {} keys: {:.2g} by the key's number, {:.2g} by distance",
                      keys, errors.by_key, errors.by_distance)};
}

std::vector<Index> keys_that_matter(const EncodingView& view, Index length) {
  std::vector<Index> counts;
  const BiasView seen = view_bias(view, 0, length).value();
  for (const auto& of_head : seen.bias) {
    std::vector<double> weights;  // by distance
    for (const double bias : of_head.back()) weights.push_back(std::exp(bias - of_head.back().front()));
    std::ranges::sort(weights, std::greater<>());
    const double wanted = 0.99 * std::accumulate(weights.begin(), weights.end(), 0.0);
    double sum = 0;
    Index count = 0;
    while (sum < wanted) sum += weights[static_cast<std::size_t>(count++)];
    counts.push_back(count);
  }
  return counts;
}

ClaimFinding steepest_head_is_local(const EncodingView& view) {
  const std::vector<Index> at_512 = keys_that_matter(view, 512), at_4096 = keys_that_matter(view, 4096);
  const bool local = at_512.front() == at_4096.front() && at_4096.front() <= 20;
  return {
      local ? ClaimVerdict::is_true : ClaimVerdict::is_false,
      fmt::format("99 % of the weight stands on {} keys at length 512 and {} at 4096; in the other heads at "
                  "4096: {}",
                  at_512.front(), at_4096.front(),
                  fmt::join(std::vector<Index>(at_4096.begin() + 1, at_4096.end()), ", "))};
}

}  // namespace tapeline
