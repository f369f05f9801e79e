#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>

namespace tapeline::test {

/// An environment variable with another value, or none, to the end of the scope.
class Environment {
 public:
  Environment(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* before = ::getenv(name)) before_ = before;
    set(value);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() { set(before_); }

 private:
  void set(const std::optional<std::string>& value) const {
    if (value)
      ::setenv(name_, value->c_str(), 1);
    else
      ::unsetenv(name_);
  }
  const char* name_;
  std::optional<std::string> before_;
};

/// Standard input taken from a pipe that holds `content` (less than a pipe's buffer, 64 KiB).
class StandardInput {
 public:
  explicit StandardInput(std::string_view content) : before_(::dup(STDIN_FILENO)) {
    int ends[2];
    if (::pipe(ends) != 0 || ::write(ends[1], content.data(), content.size()) < 0) return;
    ::close(ends[1]);
    ::dup2(ends[0], STDIN_FILENO);
    ::close(ends[0]);
  }
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;
  ~StandardInput() {
    if (before_ < 0) {
      ::close(STDIN_FILENO);
      return;
    }
    ::dup2(before_, STDIN_FILENO);
    ::close(before_);
  }

 private:
  int before_;
};

}  // namespace tapeline::test
