#include "train/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <memory>
#include <string_view>

#include "train/terminal.h"

namespace tapeline {

namespace {

// "warning: " where it matters; an ordinary message is its own text and nothing else.
class Severity : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    const std::string_view text = message.level >= spdlog::level::err     ? "error: "
                                  : message.level == spdlog::level::warn  ? "warning: "
                                  : message.level == spdlog::level::debug ? "debug: "
                                                                          : "";
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<Severity>(); }
};

}  // namespace

void set_up_log(LogLevel level) {
  const auto colour = colour_wanted(STDERR_FILENO) ? spdlog::color_mode::always : spdlog::color_mode::never;
  auto logger = std::make_shared<spdlog::logger>(
      "tapeline", std::make_shared<spdlog::sinks::stderr_color_sink_mt>(colour));
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<Severity>('*').set_pattern("%^%*%$%v");
  logger->set_formatter(std::move(formatter));
  logger->set_level(level == LogLevel::quiet     ? spdlog::level::warn
                    : level == LogLevel::verbose ? spdlog::level::debug
                                                 : spdlog::level::info);
  spdlog::set_default_logger(logger);
}

}  // namespace tapeline
