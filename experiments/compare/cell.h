#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "experiments/compare/cell_record.h"
#include "experiments/compare/plan.h"
#include "train/probe_plan.h"
#include "train/trainer.h"

namespace tapeline {

/// The targets that every cell is scored on, at every length.
struct ComparedTargets {
  ScoredSet scored;
  Index longest_sliding = 0;  ///< of any cell: makes the sliding subset the same for all
};

/// What every cell of a comparison shares.
struct CellSurroundings {
  TrainingText text;
  ComparedTargets targets;
  double gemm_gflops = 0;
};

/// Where a cell stands, for whoever shows it.
struct CellProgress {
  bool training = false;
  Index step = 0;  ///< of training, with its loss in nats a token
  double loss = 0;
  double share = 0;            ///< of the training, or of the evaluation at hand
  std::size_t evaluation = 0;  ///< which of evaluation_work(), counted from 0, and behind it of probe_work()
  std::string doing;           ///< "evaluating sliding at 512"; empty while training
};

/// One evaluation that a cell has to do.
struct EvaluationWork {
  const CellEvaluation* under = nullptr;
  EvaluationCell cell;
  Index input_tokens = 0;  ///< how many tokens are run through the model
};

/// All evaluations of a cell, in the order of results.csv.
std::vector<EvaluationWork> evaluation_work(const Cell& cell, const ComparedTargets& targets);

/// One probe that a cell has to do.
struct CellProbe {
  const CellEvaluation* under = nullptr;
  ProbeWork work;
};

/// All probes of a cell: of the model as it was trained those that its configuration asks for; under other
/// settings those of them that follow from the evaluations and cost nothing.
std::vector<CellProbe> probe_work(const Cell& cell);

/// Trains and evaluates one cell in its folder, as far as that has not been done. A loss that stops being a
/// number makes the cell "diverged", with every evaluation and probe so marked; it is no error. A signal:
/// saves, then throws Stopped.
CellRecord run_cell(const Cell& cell, const CellSurroundings& surroundings,
                    const std::filesystem::path& folder,
                    const std::function<void(const CellProgress&)>& progress);

}  // namespace tapeline
