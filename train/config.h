#pragma once

#include <map>
#include <string>
#include <vector>

#include "layers/model_config.h"

namespace tapeline {

/// [data]
struct DataConfig {
  std::string source = "kjv";  ///< a named corpus, a file, a folder, "-" (standard input), a token store
  std::string tokenizer = "bytes";
  Index vocabulary = 256;
  Index block = 0;  ///< bytes of a split block; 0: "auto"
  double validation_share = 0.1;
  double test_share = 0.1;
};

/// [train]
struct TrainConfig {
  Index length = 64;             ///< the trained length L, in tokens
  Index tokens_per_step = 2048;  ///< a multiple of length
  Index steps = 700;
  Index micro_batch = 0;  ///< windows run at once; 0: "auto"; must divide the windows of a step
  std::uint64_t seed = 0;
  int threads = 0;                    ///< 0: all cores
  Index checkpoint_every = 100;       ///< steps; 0: only the last
  Index keep = 2;                     ///< last checkpoints kept, besides the best
  Index evaluate_every = 0;           ///< steps; 0: only at the end
  std::string on_nonfinite = "stop";  ///< "stop" | "skip"
};

/// [optimizer]
struct OptimizerConfig {
  std::string kind = "adamw";  ///< "adamw" | "lion" | "sgd"
  double lr = 2e-3;
  std::vector<double> betas = {0.9, 0.99};  ///< adamw, lion
  double momentum = 0.9;                    ///< sgd
  double eps = 1e-8;                        ///< adamw
  double weight_decay = 0.1;                ///< matrices only
  double clip = 1;                          ///< largest gradient norm; 0: none
};

/// [schedule]
struct ScheduleConfig {
  std::string kind = "cosine";         ///< "cosine" | "wsd" | "inverse_sqrt" | "constant"
  double warmup = 0.1;                 ///< share of the steps
  double floor = 0.1;                  ///< cosine, wsd: last rate as a share of the peak
  double decay = 0.2;                  ///< wsd: share of the steps in which the rate falls
  std::string decay_shape = "linear";  ///< wsd: "linear" | "cosine" | "sqrt" | "exponential"
};

/// [evaluate]
struct EvaluateConfig {
  std::vector<std::string> lengths = {"1x", "2x", "4x", "8x",
                                      "16x"};  ///< multiples of the trained length, or numbers
  std::vector<std::string> protocols = {"nonoverlapping", "sliding"};
  Index stride = 0;             ///< of the sliding protocol; 0: L/2
  Index sliding_tokens = 4096;  ///< targets of the sliding subset
  std::string sliding_up_to = "8x";
  std::vector<std::string> probes = {"positions", "tail", "residual", "attention"};  ///< of probe_names()
  std::string scored = "auto";                                                       ///< "auto" | "all"
};

/// One trained variant of a comparison, or one evaluation of a trained variant: a name and the keys it
/// changes, as TOML text by dotted key ("positional.kind" -> "\"alibi\"").
struct Variant {
  std::string name;
  /// Evaluations: the variants whose models are evaluated; empty: all that have the keys which it changes.
  std::vector<std::string> of = {};
  std::map<std::string, std::string> changes = {};
  /// Where it was read, "my.toml:12", and each change of it, by key; empty: nowhere. No part of what it is.
  std::string place = {};
  std::map<std::string, std::string> places = {};
};

/// [compare]
struct CompareConfig {
  std::vector<std::string> encodings = {"none", "learned", "sinusoidal", "rope", "alibi"};
  Index seeds = 3;
  /// Criteria that are judged when all is measured, declared before the run: C1 ... C12.
  std::vector<std::string> claims = {"C1", "C2", "C3", "C4",  "C5",  "C6",
                                     "C7", "C8", "C9", "C10", "C11", "C12"};
  /// Those of them whose failure is one of the whole comparison (--check), declared before the run: few, as
  /// of twelve criteria at the 5 % level one is soon met or missed by chance.
  std::vector<std::string> primary = {"C1", "C2", "C4", "C5"};
  std::string thresholds = "toy-1";  ///< the frozen set of numbers that they are judged by
  /// Multiples of optimizer.lr that every variant is trained at first, with the first seed; its best one is
  /// taken for all its seeds. Empty: no sweep.
  std::vector<double> sweep = {};
  std::vector<Variant> variants;
  std::vector<Variant> evaluations;
};

/// The whole configuration, resolved: every value present.
struct Config {
  ModelConfig model;
  PositionalConfig positional;
  DataConfig data;
  TrainConfig train;
  OptimizerConfig optimizer;
  ScheduleConfig schedule;
  EvaluateConfig evaluate;
  CompareConfig compare;
};

}  // namespace tapeline
