#include "experiments/report/gnuplot.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/child_process.h"

namespace tapeline {
namespace {

/// The first line of what gnuplot complained of that says something.
std::string first_complaint(const std::string& text) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    if (line.find_first_not_of(" \t^\r") != std::string::npos) return line;
    begin = end + 1;
  }
  return "no message";
}

ChildResult run_gnuplot(std::string_view script) {
  try {
    return run_child({"gnuplot", "-d"}, script, "on Debian: apt-get install gnuplot-nox");
  } catch (const FileError& error) {
    fail<GnuplotError>("figures need gnuplot: {}", error.what());
  }
}

}  // namespace

std::string gnuplot_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') quoted += '\'';
    quoted += c == '\n' ? ' ' : c;
  }
  return quoted + '\'';
}

std::string gnuplot_output(std::string_view script) {
  ChildResult drawn = run_gnuplot(script);
  require<GnuplotError>(drawn.status == 0, "gnuplot failed: {}", first_complaint(drawn.messages));
  return std::move(drawn.output);
}

std::string gnuplot_mark(double x, std::string_view colour) {
  return fmt::format("set arrow 1 from {0}, graph 0 to {0}, graph 1 nohead dt (6,4) lw 1.2 lc rgb '{1}'\n", x,
                     colour);
}

std::string gnuplot_mark(double x, std::string_view colour, std::string_view label) {
  return gnuplot_mark(x, colour) +
         fmt::format("set label 1 {} at {}, graph 1 left offset 0.6,-0.6 noenhanced textcolor rgb '{}'\n",
                     gnuplot_quoted(label), x, colour);
}

}  // namespace tapeline
