#include <fmt/format.h>

#include "tests/experiments/shell.h"
#include "tests/support/kinds.h"

namespace tapeline::test {
namespace {

// Sizes at which the first turn of each, or what comes before it, takes minutes.
constexpr const char* large = " --set model.layers=8 --set model.width=512 --set model.heads=8";
constexpr const char* long_step = " --set train.length=4096 --set train.tokens_per_step=1048576";

TEST_CASE("bench: a signal ends it at once, wherever it is") {
  const Shell shell;
  for (const std::string& words :
       {fmt::format("step{}{}", large, long_step),
        fmt::format("step --encodings {}{}{}", any_kind(), large, long_step),
        fmt::format("step --trace trace.json{}{}", large, long_step),
        fmt::format("gemm{}{}", large, long_step), fmt::format("attention --lengths 131072{}", large),
        fmt::format("evaluate --lengths 65536{}", large),
        std::string("evaluate --no-floor --set positional.keys.window=64 --lengths 200000000"),
        fmt::format("generate{} --set train.length=131072 --set train.tokens_per_step=131072", large)}) {
    // Once there are two threads one of them takes the signals.
    const Ran ran = shell("rm -f pid; timeout -s KILL 30 sh -c 'echo $$ > pid; exec \"$0\" bench " + words +
                          "' \"$tapeline\" & outer=$!\n"
                          "until [ -s pid ] && [ $(ls /proc/$(cat pid)/task | wc -l) -ge 2 ]; do\n"
                          "  kill -0 $outer || exit 99; sleep 0.02\ndone\n"
                          "sleep 0.2; kill -TERM $(cat pid); wait $outer");
    CAPTURE(words);
    CAPTURE(ran.err);
    CHECK(ran.code == 3);
    CHECK(contains(ran.err, "bench: stopped by a signal"));
    CHECK(ran.out.empty());
    CHECK_FALSE(names_in(shell.folder()).contains("trace.json"));
  }
}

TEST_CASE("bench: what does not fit into memory is refused before any of it is made") {
  const Shell shell;
  const std::string deep = " --set model.layers=48 --set model.width=2048 --set model.heads=16";
  const std::string longest = " --set train.length=16777216 --set train.tokens_per_step=16777216";
  for (const std::string& words : std::vector<std::string>{
           "gemm" + longest, "step" + deep, "step" + longest, "step --encodings all" + deep,
           "generate --set model.width=65536 --set model.layers=8",
           "evaluate --no-floor --set positional.keys.window=64 --lengths 1099511627776"}) {
    CAPTURE(words);
    check_refused(shell("ulimit -t 20; $tapeline bench " + words), 2, {"GB, this machine has"});
  }
}

}  // namespace
}  // namespace tapeline::test
