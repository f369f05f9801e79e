#include "train/step_trace.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/excerpt.h"
#include "core/files.h"

namespace tapeline {

namespace {

/// How every trace begins, and what tells it from a file of someone else.
constexpr std::string_view head =
    "[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"tid\":1,\"args\":{\"name\":\"tapeline\"}}";

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Microseconds with all digits of the clock, so that a child never seems to outlast its parent.
std::string microseconds(std::int64_t nanoseconds) {
  return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

std::string arguments(const Timing& timing) {
  std::string text = fmt::format("{{\"shape\":{}", json_text(timing.shape.text()));
  if (!timing.parameter.empty()) text += fmt::format(",\"parameter\":{}", json_text(timing.parameter));
  if (timing.flops > 0) text += fmt::format(",\"flops\":{}", timing.flops);
  return text + fmt::format(",\"bytes\":{}}}", timing.bytes);
}

}  // namespace

std::string chrome_trace(const std::vector<Timing>& timings) {
  std::string text(head);
  for (const Timing& timing : timings) {
    const std::string name =
        timing.number < 0 ? std::string(timing.name) : fmt::format("{} {}", timing.name, timing.number);
    text +=
        fmt::format(",\n{{\"name\":{},\"cat\":\"{}\",\"ph\":\"X\",\"ts\":{},\"dur\":{},\"pid\":1,\"tid\":1",
                    json_text(name), phase_name(timing.phase), microseconds(timing.begin - timings[0].begin),
                    microseconds(timing.end - timing.begin));
    if (timing.kind == Timing::Kind::op) text += ",\"args\":" + arguments(timing);
    text += '}';
  }
  return text + "\n]\n";
}

void check_trace_file(const std::filesystem::path& file) {
  check_can_write(file);
  std::string begin(head.size(), '\0');
  std::ifstream there(file, std::ios::binary);
  if (!there) return;
  there.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  require<ConfigError>(there.gcount() == 0 || begin == head,
                       "--trace \"{}\" is there already and is no trace; give another name, or remove it",
                       excerpt(file.string()));
}

void StepTrace::after_step() {
  if (left_ == 0) return;
  ++made_;
  if (--left_ == 0) write();
}

void StepTrace::finish() {
  if (left_ == 0 || made_ == 0) return;
  left_ = 0;
  write();
}

void StepTrace::write() {
  write_file(file_, chrome_trace(watch_.timings()));
  written_ = made_;
  watch_.clear();
}

}  // namespace tapeline
