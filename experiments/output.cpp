#include "experiments/output.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "core/error.h"
#include "core/excerpt.h"
#include "train/log.h"

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

void write_note(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

std::string printed_json(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

namespace {

/// One line for a terminal, whatever names and values stand in it: control characters become blanks, and of a
/// text that is very long the middle, not the advice at its end, is left off.
std::string fit_for_a_line(std::string_view text) {
  constexpr std::size_t head = 2000, tail = 500;
  if (text.size() <= head + tail) return excerpt(text, text.size());
  std::size_t rest = text.size() - tail;
  while (rest < text.size() && (static_cast<unsigned char>(text[rest]) & 0xC0) == 0x80) ++rest;
  return excerpt(text, head) + excerpt(text.substr(rest), tail);
}

}  // namespace

void tell_stopped(std::string_view what, std::string_view rest) {
  spdlog::warn("{}: stopped by a signal; {}", what, rest);
}

void write_error(std::string_view text) {
  const std::string line = fmt::format("tapeline: {}\n", fit_for_a_line(text));
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace tapeline
