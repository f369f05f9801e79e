#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/compare/comparison.h"

namespace tapeline {

/// What became of a circulating statement here.
enum class ClaimVerdict {
  is_true,
  is_false,
  on_average,         ///< it holds of means, not of every single number
  not_at_this_scale,  ///< models this small do not show it; see trained_verdict()
  needs_comparison,   ///< no trained models were given, or not those that it is about
  not_in_build        ///< it is about an encoding that this program was built without
};
/// "true", "false", "true on average", "not at this scale", "needs a comparison", "not in this build".
std::string_view claim_verdict_text(ClaimVerdict verdict);

/// What a computation found.
struct ClaimFinding {
  ClaimVerdict verdict = ClaimVerdict::is_false;
  std::string figure;  ///< the number, with its unit, count and interval
};

/// A statement that circulates about positional encodings, and how it is tested here: by a computation of
/// its own, or on the trained models of a comparison.
struct Claim {
  std::string_view id;                       ///< "sinusoid-zero"
  std::string_view statement;                ///< as it circulates; the verdict is on this very sentence
  std::string_view source;                   ///< a paper with its arXiv number, or where such sentences stand
  std::string_view computed;                 ///< what is computed, how, and from where on it counts as true
  std::vector<std::string_view> kinds = {};  ///< the encodings it needs
  ClaimFinding (*compute)() = nullptr;       ///< seconds at most; the same figure every time
  ClaimFinding (*judge)(const Comparison&) = nullptr;  ///< in place of compute: on trained models
  std::string_view command = {};                       ///< that trains them
};

/// Claims about one subject.
struct ClaimGroup {
  std::string_view subject;  ///< "Sinusoids"
  std::vector<Claim> claims;
};

/// All of them, in the order in which they are told.
std::span<const ClaimGroup> claim_groups();
/// Throws ConfigError with the nearest right one for an id that none has.
const Claim& find_claim(const std::string& id);
/// The ids, in order.
std::vector<std::string> claim_ids();

/// The figure of a claim on trained models where none were given.
inline constexpr std::string_view no_models_given = "no trained models were given";
/// Computes, or judges the models of `comparison`; nullptr: none were given.
ClaimFinding test_claim(const Claim& claim, const Comparison* comparison);

}  // namespace tapeline
