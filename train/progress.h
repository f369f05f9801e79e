#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "core/index.h"

namespace tapeline {

/// How progress is shown: one rewritten line on a terminal, plain sparse lines elsewhere, or not at all.
enum class ProgressStyle { none, plain, terminal };
/// What standard error is fit for; `none` when quiet. TERM=dumb counts as no terminal.
ProgressStyle progress_style(bool quiet);

/// "1m 05s", "2h 03m", "8s"; "?" for what is not known.
std::string duration_text(double seconds);
/// "12.3k", "1.02M": three significant digits.
std::string short_number(double value);

/// One line of progress on standard error. Without a terminal at most one line an interval, no carriage
/// return and no escape sequence.
class Progress {
 public:
  explicit Progress(ProgressStyle style, double plain_interval_seconds = 10);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows `text` now, or not, as the style and the time since the last line allow.
  void show(std::string_view text);
  /// Whether show() would print now: spares making the text.
  bool due() const;
  /// Ends the rewritten line; `text`, when there is one, is always printed.
  void finish(std::string_view text = {});
  /// Removes the rewritten line, so that a message can be printed; the next show() brings it back.
  void clear();
  ProgressStyle style() const { return style_; }

 private:
  ProgressStyle style_;
  double interval_;
  bool shown_ = false;
  bool line_open_ = false;
  std::chrono::steady_clock::time_point last_{};
};

/// Time left, from the share done in this run (what a resumed run found done does not count).
class TimeLeft {
 public:
  explicit TimeLeft(double done_at_start = 0);
  double seconds(double done) const;  ///< NaN when not known yet
  double elapsed() const;

 private:
  double start_share_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace tapeline
