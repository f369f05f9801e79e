#include "experiments/bench/breakdown.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "experiments/median.h"

namespace tapeline {

namespace {

double seconds_in(const Timing& timing) { return 1e-9 * static_cast<double>(timing.end - timing.begin); }

double mean(const std::vector<double>& values, const std::vector<std::size_t>& places) {
  double sum = 0;
  for (const std::size_t place : places) sum += values[place];
  return places.empty() ? 0 : sum / static_cast<double>(places.size());
}

}  // namespace

Breakdown::Row& Breakdown::row_of(std::string_view name, std::optional<Phase> phase) {
  const auto found = std::ranges::find_if(
      rows_, [&](const Row& row) { return row.sums.name == name && row.sums.phase == phase; });
  Row& row = found != rows_.end() ? *found : rows_.emplace_back();
  row.sums.name = name;
  row.sums.phase = phase;
  row.seconds.resize(step_seconds_.size());
  return row;
}

void Breakdown::add(const std::vector<Timing>& step) {
  require<StateError>(!step.empty() && step.front().phase == Phase::step && step.front().parent < 0,
                      "breakdown: {} timings, and the first is no step", step.size());
  step_seconds_.push_back(seconds_in(step.front()));
  std::vector<double> own;
  for (const Timing& timing : step) {
    own.push_back(seconds_in(timing));
    if (timing.parent >= 0) own[static_cast<std::size_t>(timing.parent)] -= own.back();
  }
  for (std::size_t i = 0; i < step.size(); ++i) {
    const Timing& timing = step[i];
    const bool op = timing.kind == Timing::Kind::op;
    Row& row = op ? row_of(timing.name, timing.phase) : row_of("between ops", std::nullopt);
    row.seconds.back() += own[i];
    if (!op) continue;
    ++row.sums.calls;
    row.sums.flops += static_cast<double>(timing.flops);
    row.sums.bytes += static_cast<double>(timing.bytes);
  }
}

std::vector<std::size_t> Breakdown::middle_steps() const {
  std::vector<std::size_t> places(step_seconds_.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::sort(places, {}, [&](std::size_t place) { return step_seconds_[place]; });
  const auto dropped = static_cast<std::ptrdiff_t>(places.size() / 4);
  return {places.begin() + dropped, places.end() - dropped};
}

double Breakdown::step_seconds() const { return mean(step_seconds_, middle_steps()); }

double Breakdown::median_step_seconds() const { return median(step_seconds_); }

std::vector<OpTime> Breakdown::rows() const {
  const std::vector<std::size_t> middle = middle_steps();
  const auto steps = static_cast<Index>(step_seconds_.size());
  std::vector<OpTime> rows;
  for (Row row : rows_) {
    row.seconds.resize(step_seconds_.size());
    OpTime& time = rows.emplace_back(row.sums);
    time.calls /= steps;
    time.flops /= static_cast<double>(steps);
    time.bytes /= static_cast<double>(steps);
    time.seconds = mean(row.seconds, middle);
    time.share = time.seconds / step_seconds();
  }
  std::ranges::stable_sort(rows, std::greater(), &OpTime::seconds);
  return rows;
}

}  // namespace tapeline
