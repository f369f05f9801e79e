#pragma once

#include <string>
#include <vector>

#include "experiments/inspect/listing.h"

namespace tapeline {

/// What was looked at, and what is wrong.
struct Verification {
  Index tensors = 0;                    ///< datasets of numbers read
  Index numbers = 0;                    ///< values in them
  Index digests = 0;                    ///< of these tensors, those that carry a SHA-256
  std::vector<std::string> changed;     ///< whose values are not those of their SHA-256
  std::vector<std::string> not_finite;  ///< that hold NaN or infinite values, with how many
  std::vector<std::string> unread;      ///< of types that this program does not know: only the file's digest
  bool holds() const { return changed.empty() && not_finite.empty(); }
};

/// Reads every tensor: its values against its own digest, and whether they are finite numbers. Histories may
/// hold NaN.
Verification verify_tensors(const Hdf5Reader& file, Listing& listing);

/// What is wrong on one line: "tensor "a" does not match its SHA-256; "b" holds 3 values that are not
/// finite".
std::string describe(const Verification& verification);

}  // namespace tapeline
