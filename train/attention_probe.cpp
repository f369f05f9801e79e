#include "train/attention_probe.h"

#include <cmath>

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

constexpr std::size_t sums_a_head = 5;

/// The sums of all heads of all layers, and the probes that fill them.
class HeadSums {
 public:
  HeadSums(Index layers, Index heads)
      : heads_(static_cast<std::size_t>(heads)),
        sums_(static_cast<std::size_t>(layers) * sums_a_head * heads_),
        probes_(static_cast<std::size_t>(layers)) {
    for (std::size_t layer = 0; layer < probes_.size(); ++layer) {
      const auto part = [&](std::size_t which) {
        return std::span(sums_).subspan((layer * sums_a_head + which) * heads_, heads_);
      };
      AttentionProbe& probe = probes_[layer];
      probe.entropy = part(0);
      probe.normalized_entropy = part(1);
      probe.sink_mass = part(2);
      probe.distance = part(3);
      probe.normalized_distance = part(4);
    }
  }
  HeadSums(const HeadSums&) = delete;
  HeadSums& operator=(const HeadSums&) = delete;

  std::span<AttentionProbe> probes() { return probes_; }

  std::vector<ProbeFigure> means() const {
    std::vector<ProbeFigure> figures;
    for (std::size_t layer = 0; layer < probes_.size(); ++layer) {
      const AttentionProbe& probe = probes_[layer];
      for (std::size_t head = 0; head < heads_; ++head) {
        const auto add = [&](const char* quantity, std::span<const double> sums, Index rows) {
          if (rows == 0) return;  // no row that sees two keys
          figures.push_back({.quantity = quantity,
                             .span = 0,
                             .layer = static_cast<Index>(layer),
                             .head = static_cast<Index>(head),
                             .tokens = rows,
                             .value = sums[head] / static_cast<double>(rows)});
        };
        add("entropy", probe.entropy, probe.rows);
        add("normalized_entropy", probe.normalized_entropy, probe.rows_with_choice);
        add("sink_mass", probe.sink_mass, probe.rows);
        add("distance", probe.distance, probe.rows);
        add("normalized_distance", probe.normalized_distance, probe.rows_with_choice);
      }
    }
    return figures;
  }

 private:
  std::size_t heads_;
  std::vector<double> sums_;  // [layers, 5, heads]
  std::vector<AttentionProbe> probes_;
};

}  // namespace

ProbeResult attention_probe(const ProbeSubject& subject, Index length, const EvaluationOptions& options) {
  ProbeResult result = begin_probe(subject.model, "attention", length);
  if (result.status != "ok") return result;
  const ModelConfig& model = subject.model.plan().model;
  HeadSums sums(model.layers, model.heads);
  const WindowSettings settings{
      .declared_context = length, .key_limit = options.key_limit, .probes = sums.probes(), .change = {}};
  const std::vector<EvaluationWindow> windows =
      evaluation_windows(subject.plan.attention, {Protocol::nonoverlapping, length, length, false});
  target_losses(subject, windows, settings, options);
  result.figures = sums.means();
  for (const ProbeFigure& figure : result.figures) {
    if (std::isfinite(figure.value)) continue;
    make_diverged(result, "the attention");
    break;
  }
  return result;
}

}  // namespace tapeline::inline TAPELINE_PRECISION
