#pragma once

#include <fmt/format.h>

#include <string>

#include "core/tape.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// The shape of an operand, for errors: "absent" without one. It is written out only where the error is
/// thrown, since every op gives it to require().
struct OperandText {
  Var operand;
  std::string text() const { return operand ? operand.shape().text() : "absent"; }
};

inline OperandText text(Var operand) { return {operand}; }

}  // namespace tapeline::inline TAPELINE_PRECISION

template <>
struct fmt::formatter<tapeline::OperandText> : fmt::formatter<std::string> {
  auto format(const tapeline::OperandText& shown, fmt::format_context& context) const {
    return fmt::formatter<std::string>::format(shown.text(), context);
  }
};
