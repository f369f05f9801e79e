#include "train/target_losses.h"

#include "core/error.h"

namespace tapeline {

EvaluationOptions part_of(const EvaluationOptions& options, double begin, double end) {
  EvaluationOptions part = options;
  if (!options.progress) return part;
  part.progress = [whole = options.progress, begin, end](double share) {
    whole(begin + share * (end - begin));
  };
  return part;
}

std::vector<EvaluationWindow> windows_before(const ScoredSet& targets, Index length) {
  return evaluation_windows(targets, {Protocol::sliding, length, 1, false});
}

}  // namespace tapeline

namespace tapeline::inline TAPELINE_PRECISION {

TargetLosses target_losses(const ProbeSubject& subject, std::span<const EvaluationWindow> windows,
                           const WindowSettings& settings, const EvaluationOptions& options) {
  TargetLosses sums;
  WindowLosses losses(subject.model, subject.text, settings, options);
  losses.run(windows, [&](const WindowRows& rows) {
    for (std::size_t i = 0; i < rows.targets.size(); ++i) {
      const Token target = rows.targets[i];
      if (target < 0) continue;
      sums.total += rows.losses[i] + subject.tokenizer.open_nats(target);
      sums.bytes += subject.tokenizer.byte_count(target);
      ++sums.tokens;
    }
  });
  require<DataError>(sums.tokens > 0, "probe: no token was scored in windows of {}",
                     settings.declared_context);
  return sums;
}

ProbeResult begin_probe(const Transformer& model, const char* probe, Index length) {
  ProbeResult result{.probe = probe, .length = length, .status = "ok", .reason = {}, .figures = {}};
  if (const std::optional<std::string> reason = refused_length(model, length)) {
    result.status = "refused";
    result.reason = *reason;
  }
  return result;
}

void make_diverged(ProbeResult& result, const char* what) {
  result.status = "diverged";
  result.reason = fmt::format("{} in windows of {} is no number: a weight or an activation is not finite",
                              what, result.length);
  result.figures.clear();
}

}  // namespace tapeline::inline TAPELINE_PRECISION
