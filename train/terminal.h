#pragma once

#include <cstddef>

namespace tapeline {

/// Whether a descriptor leads to a terminal that can rewrite its line; TERM unset or "dumb" cannot.
bool is_terminal(int descriptor);
/// Columns of the terminal that a descriptor leads to; 0 when it is none, or does not tell.
std::size_t terminal_columns(int descriptor);
/// Whether colour and bold are wanted there: a terminal, and NO_COLOR not set (https://no-color.org).
bool colour_wanted(int descriptor);

}  // namespace tapeline
