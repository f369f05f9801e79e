#include "train/residual.h"

#include <algorithm>

namespace tapeline {
namespace {

std::optional<double> loss_at(const std::vector<EvaluationResult>& results, Protocol protocol, Index length,
                              Index stride) {
  const auto found = std::ranges::find_if(results, [&](const EvaluationResult& result) {
    const EvaluationCell& cell = result.cell;
    return cell.protocol == protocol && cell.length == length && cell.stride == stride && cell.subset &&
           result.status == "ok";
  });
  if (found == results.end()) return std::nullopt;
  return found->nll;
}

}  // namespace

std::optional<double> curse_only_residual(const std::vector<EvaluationResult>& results, Index trained_length,
                                          Index length) {
  const auto full = loss_at(results, Protocol::sliding, trained_length, 1);
  const auto short_windows = loss_at(results, Protocol::nonoverlapping, trained_length, trained_length);
  const auto long_windows = loss_at(results, Protocol::nonoverlapping, length, length);
  if (!full || !short_windows || !long_windows) return std::nullopt;
  const double times = static_cast<double>(length) / static_cast<double>(trained_length);
  return *long_windows - (*full + (*short_windows - *full) / times);
}

}  // namespace tapeline
