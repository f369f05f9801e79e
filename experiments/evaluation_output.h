#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "train/config_loader.h"
#include "train/evaluate.h"
#include "train/probe.h"

namespace tapeline {

/// One checkpoint's evaluation, ready to be shown.
struct EvaluationReport {
  std::string checkpoint;
  std::string kind;      ///< of the positional encoding
  std::string settings;  ///< of it that are not the default ones, see positional_changes()
  std::vector<ConfigDifference> changes = {};  ///< of it between training and now
  Index train_length = 0;
  Index step = 0;
  std::string text, text_digest;
  Index targets = 0;     ///< of the whole scored set
  Index chosen_for = 0;  ///< the longest length that they were chosen for; 0: all there are
  std::vector<EvaluationResult> results;
  bool tells_positions = true, tells_tail = true;  ///< the probes of these names, in the tables
  std::vector<ProbeResult> probes = {};
  std::vector<std::string> not_measured = {};  ///< why nothing came of a probe that was asked for
};

/// [{"key": …, "trained": …, "now": …}, …], the values as TOML.
nlohmann::ordered_json changes_json(const std::vector<ConfigDifference>& changes);

/// "non-overlapping", "sliding, stride 32", "non-overlapping, subset".
std::string protocol_label(const EvaluationCell& cell);

/// For people: what was evaluated, then one line a cell, units in the headers; the cells on the whole set
/// and those on the subset in tables of their own. `width`: columns of the terminal, 0: no limit.
std::string evaluation_table(const EvaluationReport& report, std::size_t width);
/// The same for programs, position curves included.
std::string evaluation_json(const EvaluationReport& report);

}  // namespace tapeline
