#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "train/config_loader.h"

namespace tapeline {

/// One evaluation of a trained cell: the model as it was trained, or the same weights under other positional
/// settings ([[compare.evaluation]]).
struct CellEvaluation {
  std::string name;  ///< "trained" for the model as it is
  Config config;
};

/// What of a model is done in its cell.
enum class CellPart {
  whole,        ///< trained and evaluated
  sweep_point,  ///< of a sweep of learning rates: trained, and measured at the trained length alone
  swept,        ///< trained as the best point of a sweep; what is left is to evaluate it
};

/// One model of a comparison: a variant under one seed.
struct Cell {
  std::string variant;  ///< "rope"
  std::uint64_t seed = 0;
  ResolvedConfig config;                    ///< what is trained
  std::vector<CellEvaluation> evaluations;  ///< "trained" first
  CellPart part = CellPart::whole;
  double rate_multiple = 1;         ///< of a sweep: what the variant's optimizer.lr was multiplied by
  std::string folder_name() const;  ///< "rope-seed0"; trained in a sweep: "rope-lr0.5-seed0"
  std::string label() const;        ///< "rope, seed 0"; of a sweep: "rope, 0.5 lr, seed 0"
};

/// The run folder of a cell in the folder of its comparison: "cells/rope-seed0".
std::filesystem::path cell_folder(const std::filesystem::path& comparison, const Cell& cell);

/// Name of the evaluation of a model as it was trained.
inline constexpr const char* trained_evaluation = "trained";

/// What tables, figures and messages call a model under an evaluation: "rope" as trained, "rope, ntk".
std::string series_name(const std::string& variant, const std::string& evaluation);

/// Every variant under seeds train.seed, train.seed + 1, ..., seed by seed, so that a comparison stopped half
/// way holds whole seeds. Names and values have been checked where the configuration was resolved; what is
/// wrong for a comparison alone is found here, before anything is trained. Throws ConfigError for no variant
/// at all, a variant with seeds of its own, an evaluation named "trained" or one that changes anything but
/// [positional]. Of a sweep (sweep.h) it knows nothing.
std::vector<Cell> plan_cells(const ResolvedConfig& config);

}  // namespace tapeline
