#include <doctest/doctest.h>
#include <signal.h>

#include <cstdlib>
#include <string>

#include "core/child_process.h"
#include "core/error.h"
#include "tests/support/surroundings.h"
#include "tests/support/temporary_folder.h"

namespace tapeline {
namespace {

TEST_CASE("child: input, output, messages and exit code, however much there is of each") {
  const std::string much(std::size_t{3} << 20, 'x');
  const ChildResult copied = run_child({"sh", "-c", "cat; echo said >&2; exit 7"}, much, "");
  CHECK(copied.output == much);
  CHECK(copied.messages == "said\n");
  CHECK(copied.status == 7);
  // One that reads nothing of it, and complains at length.
  const ChildResult deaf = run_child({"sh", "-c", "head -c 1000000 /dev/zero >&2; echo done"}, much, "");
  CHECK(deaf.output == "done\n");
  CHECK(deaf.messages.size() == 1000000);
}

TEST_CASE("child: a signal's end is 128 + n; a missing program says what to do") {
  CHECK(run_child({"sh", "-c", "kill -9 $$"}, "", "").status == 128 + 9);
  CHECK_THROWS_WITH_AS(run_child({"no-such-program-anywhere"}, "", "install it"),
                       "there is no program \"no-such-program-anywhere\"; install it", FileError);
}

TEST_CASE("child: a folder of PATH that may not be searched hides nothing else") {
  const test::TemporaryFolder folder;
  folder.write("file", "");  // no folder at all, the same as one that is closed, for root too
  const test::Environment path("PATH", (folder / "file").string() + ":" + std::getenv("PATH"));
  CHECK(run_child({"sh", "-c", "echo here"}, "", "").output == "here\n");
  folder.write("no-such-program-anywhere", "");  // may not be run: EACCES
  const test::Environment found("PATH", folder.path().string());
  CHECK_THROWS_WITH_AS(run_child({"no-such-program-anywhere"}, "", "install it"),
                       "there is no program \"no-such-program-anywhere\"; install it", FileError);
}

TEST_CASE("child: it can be stopped, whatever this program blocks or ignores") {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto ignored = signal(SIGPIPE, SIG_IGN);
  CHECK(run_child({"sh", "-c", "kill -TERM $$; sleep 10"}, "", "").status == 128 + SIGTERM);
  CHECK(run_child({"sh", "-c", "kill -PIPE $$; exit 0"}, "", "").status == 128 + SIGPIPE);
  signal(SIGPIPE, ignored);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace tapeline
