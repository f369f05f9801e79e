#include "experiments/encodings/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/error.h"
#include "experiments/encodings/probe.h"

namespace tapeline {
namespace {

/// The turn of each row in each pair: cosines and sines [rows, pairs].
double phase(const Rotation& turn, Index row, Index pair) {
  const Index at = row * turn.width / 2 + pair;
  return std::atan2(static_cast<double>(turn.sine.value().data[at]),
                    static_cast<double>(turn.cosine.value().data[at]));
}
double magnitude(const Rotation& turn, Index row, Index pair) {
  const Index at = row * turn.width / 2 + pair;
  return std::hypot(static_cast<double>(turn.sine.value().data[at]),
                    static_cast<double>(turn.cosine.value().data[at]));
}

/// The turn from a row to the next, from rows ever further apart: the tables are rounded, and the error of a
/// slow turn falls with the stretch that it is measured over. Rows from the middle on: the first ones may be
/// turned otherwise (LongRoPE).
double turn_of_a_row(const Rotation& turn, Index rows, Index pair) {
  double known = 0;
  const double last = phase(turn, rows - 1, pair);
  for (Index apart = 1; apart <= std::max<Index>(rows / 2, 1); apart *= 2) {
    const Index row = rows - 1 - apart;
    if (row < 0 || magnitude(turn, row, pair) < 1e-30) break;
    const double seen = last - phase(turn, row, pair);
    const double whole = std::round((known * static_cast<double>(apart) - seen) / (2 * std::numbers::pi));
    known = (seen + 2 * std::numbers::pi * whole) / static_cast<double>(apart);
  }
  return known;
}

/// The query stands in the last row, the keys in all.
struct Turns {
  Rotation query, key;
};
Turns turns(Probe& probe, const PositionalEncoding& encoding, Index layer, Index rows) {
  PassPositions all;
  all.query = encoding.positions(probe.pass, rows - 1, 1);
  all.key = encoding.positions(probe.pass, 0, rows);
  return {encoding.rotation(probe.pass, Role::query, all.query, all, layer),
          encoding.rotation(probe.pass, Role::key, all.key, all, layer)};
}

std::vector<double> wavelengths(const EncodingView& view, Index layer, Index length, Index rows) {
  Probe probe(length);
  const Rotation turn = turns(probe, view.encoding(layer), layer, rows).key;
  std::vector<double> result;
  for (Index pair = 0; pair < turn.width / 2; ++pair) {
    const double angle = std::abs(turn_of_a_row(turn, rows, pair));
    result.push_back(angle < 1e-12 ? std::numeric_limits<double>::infinity() : 2 * std::numbers::pi / angle);
  }
  return result;
}

/// The bias of a term for (head, row, distance); what has none is left out by the caller.
double bias_of(const LinearBias& term, const ScoreTerms&, Index head, Index, Index distance) {
  return -number_at(term.slopes, head) * static_cast<double>(std::abs(distance));
}
double bias_of(const DistanceBias& term, const ScoreTerms&, Index head, Index, Index distance) {
  return number_at(term.table, head * term.table.shape()[1] + distance - term.first_distance);
}
double bias_of(const RowNormalizedBias& term, const ScoreTerms&, Index head, Index row, Index distance) {
  const double x =
      number_at(term.numerator, distance - term.first_distance) / number_at(term.denominator, row);
  Index segment = 0;
  while (segment < term.cuts.shape()[0] && number_at(term.cuts, segment) <= x) ++segment;
  const Index at = head * term.slopes.shape()[1] + segment;
  return number_at(term.slopes, at) * x + number_at(term.intercepts, at);
}

/// c v_h . r_h(d): the part of the term that no query or key takes part in.
double bias_of(const RelativeVectors& term, const ScoreTerms& terms, Index head, Index, Index distance) {
  const Index width = term.v.shape()[1];
  const Index begin =
      vector_begin(term.query_vectors.shape(), term.query_index, term.first_distance, head, distance, width);
  double sum = 0;
  for (Index n = 0; n < width; ++n) {
    sum += number_at(term.v, head * width + n) * number_at(term.query_vectors, begin + n);
  }
  return sum * static_cast<double>(terms.scale);
}

bool has_bias(const ScoreTerm& term) {
  if (const auto* vectors = std::get_if<RelativeVectors>(&term)) return static_cast<bool>(vectors->v);
  return !std::holds_alternative<std::monostate>(term) && !std::holds_alternative<ContextualPositions>(term);
}

}  // namespace

EncodingView::EncodingView(const ModelPlan& plan) : plan_(plan) {
  positions_.emplace(plan_, store_.root(), ModelPositions::registered(plan_.positional));
  store_.allocate(plan_.seed);
}

EncodingView::EncodingView(const ModelPlan& plan, ParameterStore& trained) : EncodingView(plan) {
  for (Parameter& parameter : store_.parameters()) {
    const Parameter* known = trained.find(parameter.name());
    require<StateError>(known != nullptr && known->shape() == parameter.shape(),
                        "encodings: the trained model has no parameter \"{}\"", parameter.name());
    std::copy_n(known->value().data, known->value().size(), parameter.mutable_value().data);
  }
  trained_ = true;
}

Index positional_parameters(const ModelPlan& plan) {
  ParameterStore store;
  const ModelPositions positions(plan, store.root(), ModelPositions::registered(plan.positional));
  return store.size();
}

std::optional<RotationView> view_rotation(const EncodingView& view, Index layer, Index length) {
  Probe probe(length);
  const Turns turn = turns(probe, view.encoding(layer), layer, length);
  if (!turn.key) return std::nullopt;
  RotationView result{.width = turn.key.width, .wavelengths = {}, .decay = {}, .magnitude = 1};
  const Index pairs = turn.key.width / 2;
  for (Index distance = 0; distance < length; ++distance) {
    double sum = 0;
    for (Index pair = 0; pair < pairs; ++pair) {
      const Index key = (length - 1 - distance) * pairs + pair;
      sum += number_at(turn.query.cosine, pair) * number_at(turn.key.cosine, key) +
             number_at(turn.query.sine, pair) * number_at(turn.key.sine, key);
    }
    result.decay.push_back(sum / static_cast<double>(std::max<Index>(pairs, 1)));
  }
  result.magnitude = std::sqrt(std::max(result.decay.front(), 0.0));
  constexpr Index long_stretch = 4096;
  try {
    result.wavelengths = wavelengths(view, layer, length, std::max(length, long_stretch));
  } catch (const ShapeError&) {  // a decay takes no stretch as long as that
    result.wavelengths = wavelengths(view, layer, length, length);
  }
  return result;
}

std::optional<BiasView> view_bias(const EncodingView& view, Index layer, Index length) {
  Probe probe(length);
  const PositionalEncoding& encoding = view.encoding(layer);
  const ScoreTerms terms = encoding.score_terms(probe.pass, rows_seen(probe, encoding, length), layer);
  if (!has_bias(terms.term)) return std::nullopt;
  BiasView result;
  result.by_row = std::holds_alternative<RowNormalizedBias>(terms.term);
  result.rows = {length - 1};
  if (result.by_row) {
    const Index trained = view.plan().train_length;
    for (const Index row : {2 * trained - 1, trained - 1, trained / 2 - 1, trained / 8 - 1}) {
      if (row > 0 && row < result.rows.front()) result.rows.insert(result.rows.begin(), row);
      std::ranges::sort(result.rows);
    }
  }
  result.bias.resize(static_cast<std::size_t>(view.plan().model.heads));
  for (std::size_t head = 0; head < result.bias.size(); ++head) {
    for (const Index row : result.rows) {
      std::vector<double>& bias = result.bias[head].emplace_back();
      for (Index distance = 0; distance <= row; ++distance) {
        bias.push_back(std::visit(
            [&](const auto& term) {
              if constexpr (requires { bias_of(term, terms, Index{}, row, distance); }) {
                return bias_of(term, terms, static_cast<Index>(head), row, distance);
              } else {
                return 0.0;
              }
            },
            terms.term));
      }
    }
  }
  return result;
}

std::vector<std::vector<double>> view_score_scale(const EncodingView& view, Index layer, Index length) {
  Probe probe(length);
  const PositionalEncoding& encoding = view.encoding(layer);
  // A scale around the encoding, or one of its own alone: then nothing need be turned.
  const bool around = view.plan().positional.score.scale != "none";
  const ScoreTerms terms =
      around ? view.positions()
                   .of_layer(probe.pass, view.positions().of_pass(probe.pass, 0, length), layer, false)
                   .terms
             : encoding.score_terms(probe.pass, rows_seen(probe, encoding, length), layer);
  const Var factors = terms.query_scale;
  if (!factors) return {};
  const Index sets = factors.shape().rank() == 1 ? 1 : factors.shape()[0];
  std::vector<std::vector<double>> result;
  for (Index set = 0; set < sets; ++set) {
    const Real* begin = factors.value().data + set * length;
    result.emplace_back(begin, begin + length);
  }
  return result;
}

std::vector<Index> view_positions(const EncodingView& view, Index length, Index draw) {
  Probe probe(length, Recording::on);  // it is training that draws
  probe.pass.position_key = random_key(view.plan().seed, fmt::format("drawing {}", draw));
  const PassPositions all = view.positions().of_pass(probe.pass, 0, length)[0];
  std::vector<Index> result;
  for (Index row = 0; row < length; ++row) result.push_back(all.query.at(row));
  return result;
}

}  // namespace tapeline
