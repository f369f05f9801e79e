#include "experiments/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "core/error.h"

namespace tapeline {

void write_output(std::string_view text) {
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (written) return;
  const int error = errno;
  std::clearerr(stdout);
  if (error == EPIPE) return;
  fail<FileError>("standard output: cannot be written: {}", std::strerror(error));
}

void write_error(std::string_view text) {
  std::string line = fmt::format("tapeline: {}", text);
  std::ranges::replace_if(
      line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace tapeline
