#pragma once

#include <string>
#include <string_view>

#include "core/error.h"

namespace tapeline {

/// A drawing that gnuplot could not make: it is missing, or it says no.
class GnuplotError : public Error {
 public:
  using Error::Error;
};

/// What gnuplot writes to its standard output for `script`; nobody's start-up file is read. Throws
/// GnuplotError when the program is missing (naming gnuplot-nox) or says no (with its own first line).
std::string gnuplot_output(std::string_view script);

/// A text as a gnuplot string in single quotes, in which nothing has a meaning.
std::string gnuplot_quoted(std::string_view text);

/// A dashed line through the whole frame at `x`, as gnuplot's arrow 1.
std::string gnuplot_mark(double x, std::string_view colour);
/// The same with its label, number 1, at the top of the frame.
std::string gnuplot_mark(double x, std::string_view colour, std::string_view label);

}  // namespace tapeline
