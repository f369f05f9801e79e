#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/watch.h"

namespace tapeline {

/// The timings as a Chrome trace, which chrome://tracing and Perfetto open: the JSON array format, one
/// complete event ("X") each, in microseconds since the first. Category: the phase. Arguments of an op: shape
/// of its result, first parameter that it reads, floating-point operations, bytes.
std::string chrome_trace(const std::vector<Timing>& timings);

/// Before there is anything to trace: throws FileError where the file cannot be written, and ConfigError
/// where something else than a trace of ours would be replaced.
void check_trace_file(const std::filesystem::path& file);

/// What becomes of the file, for whoever wrote one.
inline constexpr std::string_view how_to_open_trace =
    "open it in chrome://tracing or https://ui.perfetto.dev";

/// The first steps of a run, written as a trace when they are over.
class StepTrace {
 public:
  /// Steps that are traced unless told otherwise: the first one sets everything up, the others are like all
  /// that follow.
  static constexpr Index default_steps = 5;

  /// Without a file nothing is watched.
  explicit StepTrace(std::filesystem::path file, Index steps = default_steps)
      : file_(std::move(file)),
        left_(file_.empty() ? 0 : steps),
        watch_(file_.empty() ? 0 : Watch::default_room) {}

  /// For the next step; null when none is wanted any more.
  Watch* watch() { return left_ > 0 ? &watch_ : nullptr; }
  /// After each step: writes the file once it was the last one. Throws FileError.
  void after_step();
  /// At the end of a run that may have made fewer steps, while its model is there: writes those. Throws
  /// FileError.
  void finish();

  const std::filesystem::path& file() const { return file_; }
  /// How many steps the file holds; 0: it has not been written.
  Index written() const { return written_; }

 private:
  void write();

  std::filesystem::path file_;
  Index left_;
  Index made_ = 0, written_ = 0;
  Watch watch_;
};

}  // namespace tapeline
