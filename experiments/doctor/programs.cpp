#include "experiments/doctor/programs.h"

#include <fmt/format.h>

#include "core/child_process.h"
#include "core/error.h"
#include "core/excerpt.h"

namespace tapeline {
namespace {

std::string first_line(const std::string& text) { return excerpt(text.substr(0, text.find('\n'))); }

Finding gnuplot() {
  const std::string mend = "apt-get install --no-install-recommends gnuplot-nox";
  try {
    const ChildResult ran = run_child({"gnuplot", "--version"}, "", mend);
    if (ran.status == 0) return all_well("gnuplot", first_line(ran.output));
    return {"gnuplot", Finding::State::problem,
            fmt::format("it ends with {}: {}; reports have no figures", ran.status, first_line(ran.messages)),
            mend};
  } catch (const FileError&) {
    return {"gnuplot", Finding::State::problem, "gnuplot is not on the PATH: reports have no figures", mend};
  }
}

Finding corpus() {
  const std::string mend = "apt-get install --no-install-recommends bible-kjv bible-kjv-text";
  constexpr const char* without = "the default text cannot be read, only one of your own (--text)";
  try {
    const ChildResult ran = run_child({"bible", "-f", "gen1:1"}, "", mend);
    if (ran.status == 0 && ran.output.starts_with("Ge1:1 "))
      return all_well("kjv", "the program bible has the text");
    return {"kjv", Finding::State::problem,
            fmt::format("the program bible ends with {} and gives no verse: {}", ran.status, without), mend};
  } catch (const FileError&) {
    return {"kjv", Finding::State::problem, fmt::format("the program bible is not on the PATH: {}", without),
            mend};
  }
}

}  // namespace

Findings examine_programs() { return {gnuplot(), corpus()}; }

}  // namespace tapeline
