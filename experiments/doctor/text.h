#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "experiments/doctor/finding.h"

namespace tapeline {

/// "ok", "note", "problem".
std::string_view state_name(Finding::State state);

/// How many findings are in that state.
std::size_t count(const Findings& findings, Finding::State state);

/// A line for each finding, the line that mends it under it, and how many there are at the end. `width`: of
/// the terminal, 0 for no limit; lines that mend are never broken, so that they can be copied. `all`: those
/// that are ok too. `colour`: with the escape sequences of a terminal.
std::string findings_text(const Findings& findings, std::size_t width, bool all, bool colour);

/// {"state": the worst, "problems": n, "notes": n, "findings": [{"id", "state", "found", "mend"}]}.
nlohmann::ordered_json findings_json(const Findings& findings);

}  // namespace tapeline
