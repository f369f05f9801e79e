#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "train/evaluate.h"
#include "train/probe.h"

namespace tapeline {

/// A finished evaluation of a cell.
struct RecordedResult {
  std::string evaluation;  ///< "trained", or the name of a [[compare.evaluation]]
  EvaluationResult result;
};

/// What a probe found on a cell.
struct RecordedProbe {
  std::string evaluation;  ///< "trained", or the name of a [[compare.evaluation]]
  ProbeResult result;
};

/// What is known about one cell so far. Kept as result.json in the cell's folder and replaced atomically
/// after every evaluation, so what was done before an interruption is never done again.
struct CellRecord {
  /// "" (not trained yet), "done", "diverged" (the loss or a gradient stopped being a number)
  std::string training;
  std::string reason;  ///< why, when diverged
  std::string corpus_digest;
  Index parameters = 0;
  double training_loss = std::numeric_limits<double>::quiet_NaN();  ///< nats a token, mean of the last steps
  double tokens_per_second = 0;                                     ///< of training, the median step
  int threads = 0;                                                  ///< that it was trained on; 0: not known
  std::vector<RecordedResult> results;
  std::vector<RecordedProbe> probes;
  bool complete = false;  ///< nothing is left to do

  const EvaluationResult* find(const std::string& evaluation, const EvaluationCell& cell) const;
  const ProbeResult* find_probe(const std::string& evaluation, const std::string& probe, Index length) const;
  /// The results of one evaluation, in their order.
  std::vector<EvaluationResult> results_of(const std::string& evaluation) const;
};

/// The record's place in a cell's folder.
std::filesystem::path record_file(const std::filesystem::path& cell_folder);

std::string record_text(const CellRecord& record);
/// Throws FileError naming `place` for text that record_text() did not write.
CellRecord parse_record(const std::string& text, const std::string& place);

/// An empty record when there is no file yet.
CellRecord read_record(const std::filesystem::path& cell_folder);
void write_record(const std::filesystem::path& cell_folder, const CellRecord& record);

}  // namespace tapeline
