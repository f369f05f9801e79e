#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "tests/conformance/work.h"

namespace tapeline::conformance {

/// Why a case cannot be computed here: what it needs is not in this build, or nothing known fits it.
class Unrunnable : public Error {
 public:
  using Error::Error;
};

/// A case that holds inputs of others and asks for nothing itself.
bool is_inputs(const GoldenCase& of);

/// The pieces of work that a case asks for. Throws Unrunnable, or DataError for a case that lacks an array or
/// a parameter.
std::vector<Work> plan(const GoldenCase& of, const GoldenFile& file);

/// Whether a position of the work exceeds 4,096, where double precision is held to a tenth of the digits.
bool is_far(const Work& work);

}  // namespace tapeline::conformance
