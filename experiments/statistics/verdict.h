#pragma once

#include <string>

namespace tapeline {

/// What an interval says of a claim: all of it on the right side, all of it on the wrong one, or neither.
enum class Verdict { holds, fails, inconclusive };

/// "holds", "fails", "inconclusive".
std::string verdict_text(Verdict verdict);

}  // namespace tapeline
