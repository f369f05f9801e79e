#include "experiments/compare/probes_csv.h"

#include <fmt/format.h>

#include "experiments/compare/results.h"

namespace tapeline {
namespace {

/// Empty where the figure is of none.
std::string number_or_none(bool has, Index number) { return has ? fmt::format("{}", number) : ""; }

}  // namespace

std::string probes_csv(const std::vector<FinishedCell>& cells) {
  std::string text =
      "name,kind,evaluation,seed,train_length,probe,eval_length,span,layer,head,quantity,tokens,value,"
      "status\n";
  for (const FinishedCell& cell : cells) {
    for (const RecordedProbe& recorded : cell.record.probes) {
      const ProbeResult& result = recorded.result;
      const std::string identity = fmt::format("{},{},{},{},{},{},{}", csv_field(cell.variant),
                                               csv_field(cell.kind), csv_field(recorded.evaluation),
                                               cell.seed, cell.train_length, result.probe, result.length);
      const bool spans = result.probe == "history" || result.probe == "shuffle";
      for (const ProbeFigure& figure : result.figures) {
        const bool of_span = spans && figure.quantity != "effective_context";
        text += fmt::format("{},{},{},{},{},{},{},{}\n", identity, number_or_none(of_span, figure.span),
                            number_or_none(figure.layer >= 0, figure.layer),
                            number_or_none(figure.head >= 0, figure.head), figure.quantity, figure.tokens,
                            csv_number(figure.value), result.status);
      }
      if (result.status != "ok") text += fmt::format("{},,,,,,,{}\n", identity, result.status);
    }
  }
  return text;
}

}  // namespace tapeline
