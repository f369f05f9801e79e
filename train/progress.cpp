#include "train/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "train/terminal.h"

namespace tapeline {

namespace {

constexpr double terminal_interval = 0.1;

// Whoever watched may have left (a closed terminal, head): that is no reason to end the work.
void print_to_watcher(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

ProgressStyle progress_style(bool quiet) {
  if (quiet) return ProgressStyle::none;
  return is_terminal(STDERR_FILENO) ? ProgressStyle::terminal : ProgressStyle::plain;
}

std::string duration_text(double seconds) {
  if (!(seconds >= 0) || seconds > 1e8) return "?";
  const auto whole = static_cast<long long>(seconds + 0.5);
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m {:02}s", whole / 60, whole % 60);
  return fmt::format("{}h {:02}m", whole / 3600, whole % 3600 / 60);
}

std::string short_number(double value) {
  constexpr const char* units[] = {"", "k", "M", "G", "T"};
  std::size_t unit = 0;
  while (std::abs(value) >= 999.5 && unit + 1 < std::size(units)) {
    value /= 1000;
    ++unit;
  }
  const double size = std::abs(value);
  return fmt::format("{:.{}f}{}", value, unit == 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2, units[unit]);
}

Progress::Progress(ProgressStyle style, double plain_interval_seconds)
    : style_(style),
      interval_(style == ProgressStyle::terminal ? terminal_interval : plain_interval_seconds) {}

Progress::~Progress() { clear(); }

bool Progress::due() const {
  if (style_ == ProgressStyle::none) return false;
  return !shown_ || seconds_since(last_) >= interval_;
}

void Progress::show(std::string_view text) {
  if (!due()) return;
  shown_ = true;
  last_ = std::chrono::steady_clock::now();
  if (style_ == ProgressStyle::plain) {
    print_to_watcher(fmt::format("{}\n", text));
    return;
  }
  // A line longer than the terminal would wrap, and could not be rewritten.
  const std::size_t columns = terminal_columns(STDERR_FILENO);
  std::size_t shown = std::min<std::size_t>(text.size(), columns > 8 ? columns - 1 : 79);
  while (shown < text.size() && (static_cast<unsigned char>(text[shown]) & 0xC0) == 0x80) --shown;
  print_to_watcher(fmt::format("\r\x1b[K{}", text.substr(0, shown)));
  line_open_ = true;
}

void Progress::finish(std::string_view text) {
  clear();
  if (style_ != ProgressStyle::none && !text.empty()) print_to_watcher(fmt::format("{}\n", text));
}

void Progress::clear() {
  if (!line_open_) return;
  print_to_watcher("\r\x1b[K");
  line_open_ = false;
}

TimeLeft::TimeLeft(double done_at_start)
    : start_share_(done_at_start), start_(std::chrono::steady_clock::now()) {}

double TimeLeft::elapsed() const { return seconds_since(start_); }

double TimeLeft::seconds(double done) const {
  const double here = done - start_share_;
  if (here <= 0) return std::numeric_limits<double>::quiet_NaN();
  return elapsed() * (1 - done) / here;
}

}  // namespace tapeline
