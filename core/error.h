#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace tapeline {

/// Base of every exception this library throws. The text is one line: what was being done, to what, what was
/// found, what was expected, what to do.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Operands whose shapes do not fit together, or an index outside its range.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// A call out of order: backward twice, a parameter changed between forward and backward.
class StateError : public Error {
 public:
  using Error::Error;
};

/// A command line or configuration that cannot be obeyed (exit code 2).
class ConfigError : public Error {
 public:
  using Error::Error;
};

/// A file that cannot be read, written or believed.
class FileError : public Error {
 public:
  using Error::Error;
};

/// Text or tokens that cannot serve: too short, a bad byte, an unknown symbol.
class DataError : public Error {
 public:
  using Error::Error;
};

/// Numbers that stopped being numbers: a loss or a gradient that is NaN or infinite.
class NumericError : public Error {
 public:
  using Error::Error;
};

/// Throws `E` with the formatted text.
template <class E, class... Arguments>
[[noreturn]] void fail(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw E(fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// Throws `E` with the formatted text unless `condition` holds.
template <class E, class... Arguments>
void require(bool condition, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  if (!condition) [[unlikely]]
    fail<E>(format, std::forward<Arguments>(arguments)...);
}

}  // namespace tapeline
