#include "experiments/inspect/damage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "core/descriptor.h"
#include "core/error.h"
#include "experiments/inspect/verification.h"
#include "train/checkpoint_layout.h"

namespace tapeline {
namespace {

constexpr rlim_t most_memory = rlim_t{4} << 30;
constexpr rlim_t most_seconds = 60;

void limit(auto resource, rlim_t most) {
  const rlimit both{most, most};
  static_cast<void>(::setrlimit(resource, &both));
}

std::string walk(const std::filesystem::path& path) {
  try {
    const Hdf5Reader file(Container::open_unverified(path, checkpoint_layout::container_kind));
    Listing listing = read_listing(file, "", 0);
    const Verification found = verify_tensors(file, listing);
    if (!found.holds()) return describe(found);
    return "no tensor that carries a SHA-256 is touched: the damage is in the optimizer's state or between "
           "the tensors";
  } catch (const std::exception& error) {
    return fmt::format("its structure is damaged ({})", error.what());
  }
}

[[noreturn]] void run_child(const std::filesystem::path& path, int to) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they reserve more than any limit
  limit(RLIMIT_AS, most_memory);
#endif
  limit(RLIMIT_CPU, most_seconds);
  limit(RLIMIT_CORE, 0);
  // A library that crashes may say so itself; what is found is told by whoever waits for this process.
  if (const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0)
    ::dup2(nowhere, STDERR_FILENO);
  const std::string text = walk(path);
  // A pipe takes this much at once.
  const ssize_t written = ::write(to, text.data(), std::min<std::size_t>(text.size(), 4096));
  ::_exit(written >= 0 ? 0 : 1);
}

}  // namespace

std::string locate_damage(const std::filesystem::path& path) {
  int ends[2];
  if (::pipe(ends) != 0) return "where cannot be looked up: there are too many open files";
  Descriptor from(ends[0]), to(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return "where cannot be looked up: no process can be started";
  if (child == 0) run_child(path, to.number());
  to.close();
  std::string text;
  read_all(from.number(), text);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status))
    return fmt::format("its structure is damaged (a process that read it ended with signal {})",
                       WTERMSIG(status));
  return text;
}

}  // namespace tapeline
