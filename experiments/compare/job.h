#pragma once

#include <filesystem>
#include <string>

#include "data/token_store.h"
#include "experiments/compare/comparison.h"
#include "experiments/compare/layout.h"
#include "train/progress.h"
#include "train/run_folder.h"

namespace tapeline {

struct CompareOptions {
  std::filesystem::path folder;
  std::string command;  ///< the command line, for the report
  Share share = {};     ///< which of the cells this process does; each share has a folder of its own
  /// `none` also leaves out the estimate of the time, and the seconds that it takes.
  ProgressStyle progress = ProgressStyle::none;
};

/// Throws ConfigError for the folder of a single run.
void require_comparison(const RunFolder& folder);

/// Trains and evaluates every cell of the share, in `folder`/cells, and writes results.csv,
/// positions.csv and probes.csv, after every cell anew, so that a job that is stopped leaves what it has. Run
/// again it goes on where it was, and the files come out byte for byte as without the interruption (speeds
/// excepted). With a sweep of learning rates that is made first. Throws ConfigError when the folder holds a
/// comparison of another configuration, listing the keys, or another share; FileError when another process
/// works in it; Stopped after a signal, with everything saved.
Comparison run_comparison(const ResolvedConfig& config, const TokenStore& store, const Tokenizer& tokenizer,
                          const CompareOptions& options);

}  // namespace tapeline
