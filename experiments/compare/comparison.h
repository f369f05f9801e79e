#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include "experiments/compare/cell_record.h"
#include "experiments/compare/plan.h"
#include "experiments/compare/results.h"
#include "experiments/compare/sweep.h"

namespace tapeline {

/// A cell that has been trained and evaluated.
struct FinishedCell {
  std::string variant, kind;
  std::uint64_t seed = 0;
  Index train_length = 0;
  CellRecord record;
  Index share = 0;  ///< number of the folder that it was read from: each may be of a machine of its own
};

/// A comparison as its tables, figures and report see it: what was asked for, on which text, what came out.
struct Comparison {
  Config config;
  /// That are trained, ascending: not always consecutive where folders were put together. Empty: those of the
  /// configuration. See planned_seeds().
  std::vector<std::uint64_t> seeds = {};
  std::string command;                    ///< that makes it again; of shares: one a line
  std::vector<std::string> folders = {};  ///< that it was put together from, as given; empty: one alone
  std::string text_source, text_digest;
  Index text_tokens = 0;    ///< 0: not known, of a folder without comparison.json
  Index scored_tokens = 0;  ///< targets of the whole scored set
  int threads = 0;          ///< as it was last gone on with; 0: not known, or shares with different ones
  std::vector<FinishedCell> cells;
  std::vector<SweepPoint> sweep;  ///< of learning rates, where there was one, as far as it has been measured
  Index planned = 0;              ///< cells that belong to it; more than there are: not all are finished yet
};

/// The seeds of the plan: Comparison::seeds, else train.seed, train.seed + 1, ... of the configuration.
std::vector<std::uint64_t> planned_seeds(const Comparison& comparison);

/// A cell as the tables see it: of one that was trained in a sweep only what the comparison evaluates, in
/// its order.
FinishedCell finished_cell(const Cell& cell, CellRecord record);

/// The lines of results.csv: cell by cell in the order of the plan.
std::vector<ResultRow> result_rows(const std::vector<FinishedCell>& cells);

/// What write_tables(), write_report() and conclude() leave in a folder.
inline constexpr std::initializer_list<const char*> comparison_outputs = {
    "report.html", "results.csv", "positions.csv", "probes.csv", "sweep.csv", "claims.json", "figures"};

/// Writes the tables of a comparison into `folder`, each atomically: results.csv, positions.csv and
/// probes.csv, and of a sweep sweep.csv.
void write_tables(const std::filesystem::path& folder, const Comparison& comparison);

}  // namespace tapeline
