#pragma once

#include <filesystem>
#include <string>

#include "data/splits.h"
#include "data/token_store.h"
#include "experiments/compare/comparison.h"
#include "train/progress.h"

namespace tapeline {

struct CompareOptions {
  std::filesystem::path folder;
  std::string command;  ///< the command line, for the report
  ProgressStyle progress = ProgressStyle::none;
};

/// The blocks of a text of that many tokens, the same for all variants: long enough for the longest length of
/// any of them. Throws ConfigError, DataError.
Splits comparison_splits(const ResolvedConfig& config, Index tokens);

/// Trains and evaluates every cell, in `folder`/cells, and writes results.csv, positions.csv and probes.csv,
/// after every cell anew, so that a job that is stopped leaves what it has. Run again it goes on where it
/// was, and the files come out byte for byte as without the interruption (speeds excepted). Throws
/// ConfigError when the folder holds a comparison of another configuration, listing the keys; FileError when
/// another process works in it; Stopped after a signal, with everything saved.
Comparison run_comparison(const ResolvedConfig& config, const TokenStore& store, const Tokenizer& tokenizer,
                          const CompareOptions& options);

}  // namespace tapeline
