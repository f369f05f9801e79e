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
    {"smoke", "plumbing, in seconds", R"(
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
thresholds = "smoke-1"
)"},
    {"toy", "the sign of every effect, in minutes", R"(
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
    {"paper", "numbers with intervals, in hours, resumable", R"(
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
[compare]
seeds = 3
thresholds = "paper-1"
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
