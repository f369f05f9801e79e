#include "train/preset.h"

#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "core/excerpt.h"
#include "train/nearest_name.h"

namespace tapeline {
namespace {

constexpr Preset all_presets[] = {
    {"smoke", "plumbing, in seconds", 100, R"(
[model]
layers = 2
width = 64
heads = 4
[train]
length = 32
tokens_per_step = 1024
steps = 250
[optimizer]
lr = 3e-3
[evaluate]
lengths = ["1x", "2x", "4x", "8x"]
[compare]
seeds = 1
primary = []
thresholds = "smoke-1"
)"},
    {"toy", "the sign of every effect, in minutes", 600, R"(
[model]
layers = 4
width = 128
heads = 4
[train]
length = 64
tokens_per_step = 2048
steps = 700
[optimizer]
lr = 2e-3
[evaluate]
lengths = ["1x", "2x", "4x", "8x", "16x"]
[compare]
seeds = 3
thresholds = "toy-1"
)"},
    {"paper", "numbers with intervals, in hours, resumable", 2400, R"(
[model]
layers = 4
width = 256
heads = 8
[train]
length = 128
tokens_per_step = 2048
steps = 3200
[optimizer]
lr = 1e-3
[evaluate]
lengths = ["1x", "1.5x", "2x", "3x", "4x", "8x", "16x", "32x"]
sliding_tokens = 16384
probes = ["all"]
[compare]
seeds = 3
thresholds = "paper-1"
)"},
    {"paper-grid", "ALiBi and sinusoidal, each trained at four lengths, in hours", 2400, R"(
[model]
layers = 4
width = 256
heads = 8
[train]
length = 128
tokens_per_step = 2048
steps = 3200
[optimizer]
lr = 1e-3
[evaluate]
lengths = [128, 256, 512, 1024, 2048, 4096]
sliding_tokens = 16384
[compare]
seeds = 1
thresholds = "paper-1"
[[compare.variant]]
name = "alibi-64"
positional.kind = "alibi"
train.length = 64
evaluate.lengths = [64, 128, 256, 512, 1024, 2048, 4096]
[[compare.variant]]
name = "alibi-128"
positional.kind = "alibi"
train.length = 128
evaluate.lengths = [128, 256, 512, 1024, 2048, 4096]
[[compare.variant]]
name = "alibi-256"
positional.kind = "alibi"
train.length = 256
evaluate.lengths = [256, 512, 1024, 2048, 4096]
[[compare.variant]]
name = "alibi-512"
positional.kind = "alibi"
train.length = 512
evaluate.lengths = [512, 1024, 2048, 4096]
[[compare.variant]]
name = "sinusoidal-64"
positional.kind = "sinusoidal"
train.length = 64
evaluate.lengths = [64, 128, 256, 512, 1024, 2048, 4096]
[[compare.variant]]
name = "sinusoidal-128"
positional.kind = "sinusoidal"
train.length = 128
evaluate.lengths = [128, 256, 512, 1024, 2048, 4096]
[[compare.variant]]
name = "sinusoidal-256"
positional.kind = "sinusoidal"
train.length = 256
evaluate.lengths = [256, 512, 1024, 2048, 4096]
[[compare.variant]]
name = "sinusoidal-512"
positional.kind = "sinusoidal"
train.length = 512
evaluate.lengths = [512, 1024, 2048, 4096]
)"},
    // LongRoPE is no part of it: its factors must be searched for a trained model first.
    {"scaling", "RoPE under each of its scalings, in minutes", 600, R"(
[model]
layers = 4
width = 128
heads = 4
[train]
length = 64
tokens_per_step = 2048
steps = 700
[optimizer]
lr = 2e-3
[evaluate]
lengths = ["1x", "2x", "4x", "8x"]
[compare]
encodings = ["rope"]
seeds = 3
[[compare.evaluation]]
name = "linear"
positional.rope.scaling = "linear"
[[compare.evaluation]]
name = "ntk"
positional.rope.scaling = "ntk"
[[compare.evaluation]]
name = "dynamic_ntk"
positional.rope.scaling = "dynamic_ntk"
[[compare.evaluation]]
name = "ntk_by_parts"
positional.rope.scaling = "ntk_by_parts"
[[compare.evaluation]]
name = "yarn"
positional.rope.scaling = "yarn"
[[compare.evaluation]]
name = "llama3"
positional.rope.scaling = "llama3"
)"},
};

}  // namespace

std::span<const Preset> presets() { return all_presets; }

const Preset& preset(std::string_view name) {
  std::vector<std::string> names;
  for (const Preset& candidate : all_presets) {
    if (candidate.name == name) return candidate;
    names.emplace_back(candidate.name);
  }
  fail<ConfigError>("there is no preset \"{}\"; there are {}{}", excerpt(name), fmt::join(names, ", "),
                    did_you_mean(nearest_name(name, names)));
}

}  // namespace tapeline
