#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/excerpt.h"
#include "tests/conformance/outcome.h"
#include "tests/conformance/plan.h"

/// conformance FILE.json...: the encodings of this build against files of reference values.
namespace tapeline::conformance {
namespace {

constexpr std::string_view usage = R"(conformance [--quiet] [--case PATTERN] FILE.json...

Computes every case of the files with the positional encodings of this build, in double (f64) and in
single precision (f32), and prints of each array, output or gradient, the largest difference
|found - expected| / max(1, |expected|): first f64, then f32; a ! marks one past its limit.

  --quiet         only the cases that fail, and the summary
  --case PATTERN  only cases of this name; * and ? as in a shell
  --help          this text

Limits: f64 1e-11 (1e-10 where a position exceeds 4,096); f32 2e-5 on values, 1e-4 on gradients. A case that
cannot be run is listed with the reason and counts as failed.

Exit codes: 0 every case holds; 1 one does not; 2 a file or the command line cannot be understood.

Example: conformance --case 'rope_*' tests/data/golden/attention.json
)";

struct Options {
  bool help = false, quiet = false;
  std::string pattern = "*";
  std::vector<std::string> files;
};

Options read_options(const std::vector<std::string>& words) {
  Options options;
  bool only_files = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (only_files || !word.starts_with("-")) {
      options.files.push_back(word);
    } else if (word == "--") {
      only_files = true;
    } else if (word == "--help" || word == "-h") {
      options.help = true;
    } else if (word == "--quiet") {
      options.quiet = true;
    } else if (word.starts_with("--case=")) {
      options.pattern = word.substr(std::string_view("--case=").size());
    } else if (word == "--case") {
      require<ConfigError>(i + 1 < words.size(), "--case needs a name or a pattern");
      options.pattern = words[++i];
    } else {
      fail<ConfigError>("{} is unknown; --help tells what there is", excerpt(word));
    }
  }
  require<ConfigError>(options.help || !options.files.empty(), "no file is given; --help tells how");
  return options;
}

int run(const Options& options) {
  std::vector<GoldenFile> files;  // all of them are read before the first is computed
  for (const std::string& path : options.files) files.push_back(read_golden_file(path));
  std::vector<Outcome> all;
  for (const GoldenFile& file : files) {
    std::vector<Outcome> outcomes;
    for (const GoldenCase& one : file.cases) {
      if (is_inputs(one) || ::fnmatch(options.pattern.c_str(), one.name.c_str(), 0) != 0) continue;
      outcomes.push_back(outcome_of(one, file));
    }
    const std::string lines = case_lines(outcomes, options.quiet);
    if (!lines.empty()) fmt::print("{}\n{}\n", file.path.string(), lines);
    std::fflush(stdout);
    all.insert(all.end(), outcomes.begin(), outcomes.end());
  }
  require<ConfigError>(!all.empty(), "no case of the files is named {}", excerpt(options.pattern));
  fmt::print("{}", summary_table(all));
  const auto failed = std::ranges::count_if(all, [](const Outcome& outcome) { return !outcome.holds(); });
  const auto not_run =
      std::ranges::count_if(all, [](const Outcome& outcome) { return !outcome.reason.empty(); });
  fmt::print("\n{} cases, {} ok, {} past a limit, {} not run\n", all.size(),
             static_cast<std::ptrdiff_t>(all.size()) - failed, failed - not_run, not_run);
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tapeline::conformance

int main(int count, char** words) {
  using namespace tapeline::conformance;
  try {
    const Options options = read_options({words + 1, words + count});
    if (options.help) {
      fmt::print("{}", usage);
      return 0;
    }
    return run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "conformance: {}\n", error.what());
    return 2;
  }
}
