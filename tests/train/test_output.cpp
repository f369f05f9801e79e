#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "core/error.h"
#include "core/files.h"
#include "tests/train/tiny.h"
#include "train/flops.h"
#include "train/metrics.h"
#include "train/progress.h"
#include "train/terminal.h"

namespace tapeline {
namespace {

/// What `action` writes to standard error.
std::string standard_error_of(const std::function<void()>& action) {
  const TemporaryFolder folder;
  std::fflush(stderr);
  const int kept = dup(STDERR_FILENO);
  const int file = open((folder / "err").c_str(), O_WRONLY | O_CREAT, 0600);
  dup2(file, STDERR_FILENO);
  action();
  std::fflush(stderr);
  dup2(kept, STDERR_FILENO);
  close(kept);
  close(file);
  return read_file(folder / "err");
}

TEST_CASE("progress: without a terminal plain lines, at most one an interval") {
  const std::string text = standard_error_of([] {
    CHECK(progress_style(false) == ProgressStyle::plain);
    CHECK_FALSE(colour_wanted(STDERR_FILENO));
    Progress progress(ProgressStyle::plain, 3600);
    for (int i = 0; i < 1000; ++i) progress.show("step");
    progress.finish("done");
  });
  CHECK(text == "step\ndone\n");
  CHECK(standard_error_of([] {
          Progress progress(progress_style(true));
          progress.show("nothing");
          progress.finish("nothing");
        }).empty());
}

TEST_CASE("progress: on a terminal one line, rewritten and taken away") {
  const std::string text = standard_error_of([] {
    Progress progress(ProgressStyle::terminal);
    progress.show("one");
    progress.finish("done");
  });
  CHECK(text.find("\r\x1b[Kone") == 0);
  CHECK(text.ends_with("\r\x1b[Kdone\n"));
}

TEST_CASE("progress: durations and numbers as people write them") {
  CHECK(duration_text(0) == "0s");
  CHECK(duration_text(59.6) == "1m 00s");
  CHECK(duration_text(3661) == "1h 01m");
  CHECK(duration_text(std::numeric_limits<double>::quiet_NaN()) == "?");
  CHECK(short_number(999) == "999");
  CHECK(short_number(1234) == "1.23k");
  CHECK(short_number(12345) == "12.3k");
  CHECK(short_number(999999) == "1.00M");
}

TEST_CASE("metrics: a resumed run cuts back to its checkpoint, a half line goes") {
  const TemporaryFolder folder;
  const auto path = folder / "metrics.jsonl";
  {
    MetricsFile metrics(path, 0);
    for (Index step = 1; step <= 5; ++step) {
      metrics.write({{"step", step}, {"loss", std::numeric_limits<double>::quiet_NaN()}});
    }
  }
  std::ofstream(path, std::ios::app) << "{\"step\":6,\"lo";
  MetricsFile(path, 6).write({{"step", 6}});
  const std::string text = read_file(path);
  CHECK(std::count(text.begin(), text.end(), '\n') == 6);
  CHECK(text.starts_with("{\"step\":1,\"loss\":\"nan\"}\n"));
  CHECK(text.ends_with("{\"step\":5,\"loss\":\"nan\"}\n{\"step\":6}\n"));
  MetricsFile(path, 3).write({{"step", 4}});
  CHECK(read_file(path).ends_with("{\"step\":3,\"loss\":\"nan\"}\n{\"step\":4}\n"));
  MetricsFile(path, 0);
  CHECK(read_file(path).empty());
  CHECK_THROWS_AS(MetricsFile(folder / "none" / "metrics.jsonl", 0), FileError);
}

TEST_CASE("metrics: what follows a line that is none of ours goes") {
  const TemporaryFolder folder;
  const auto path = folder / "metrics.jsonl";
  for (const char* line : {"", "2", "[2]", "null", "{}", "{\"step\":\"2\"}", "{\"step\":2.5}",
                           "{\"step\":null}", "{\"step\":[2]}", "step 2", "\xff\xfe"}) {
    CAPTURE(std::string(line));
    write_file(path, fmt::format("{{\"step\":1}}\n{}\n{{\"step\":3}}\n", line));
    const MetricsFile metrics(path, 9);
    CHECK(read_file(path) == "{\"step\":1}\n");
  }
}

TEST_CASE("flops: toy by hand") {
  const ModelConfig toy;  // 4 layers, width 128
  const TokenFlops flops = token_flops(toy, 256, 64);
  CHECK(flops.linear == 2.0 * (4 * 12 * 128 * 128 + 128 * 256));
  CHECK(flops.attention == 4 * 4.0 * 128 * 65 / 2);
  CHECK(flops.training() == 3 * flops.linear + 3.5 * flops.attention);
  // Rows of a window of 5 see 1, 2 and then 3 keys: two before and a sink, or fewer.
  const TokenFlops windowed = token_flops(toy, 256, 5, {.causal = true, .window = 2, .sinks = 1});
  CHECK(windowed.attention == 4 * 4.0 * 128 * (1 + 2 + 3 + 3 + 3) / 5);
  CHECK(windowed.linear == flops.linear);
}

}  // namespace
}  // namespace tapeline
