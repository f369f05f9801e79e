#pragma once

#include <string>
#include <vector>

namespace tapeline {

inline constexpr double gigabyte = 1e9;  ///< bytes, as sizes are shown

/// One thing that `tapeline doctor` looked at.
struct Finding {
  /// note: it works, but something would be better otherwise. problem: something fails, or runs several times
  /// slower than it could.
  enum class State { ok, note, problem };

  std::string id;  ///< one word: "threads"
  State state = State::ok;
  std::string found;  ///< what is there, and for a note or problem what comes of it
  std::string mend;   ///< the line to type, where one helps; empty when ok
};

using Findings = std::vector<Finding>;

/// Makes a finding that is ok.
inline Finding all_well(std::string id, std::string found) {
  return {std::move(id), Finding::State::ok, std::move(found), {}};
}

}  // namespace tapeline
