#include "data/child_output.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/descriptor.h"
#include "core/error.h"

extern char** environ;

namespace tapeline {
namespace {

/// The two ends of a pipe.
struct Pipe {
  Descriptor read_end, write_end;
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
    read_end.reset(ends[0]);
    write_end.reset(ends[1]);
  }
};

struct Redirections {
  posix_spawn_file_actions_t actions;
  Redirections() { posix_spawn_file_actions_init(&actions); }
  Redirections(const Redirections&) = delete;
  Redirections& operator=(const Redirections&) = delete;
  ~Redirections() { posix_spawn_file_actions_destroy(&actions); }
};

}  // namespace

ChildOutput run_child(const std::vector<std::string>& command, const std::string& missing) {
  Pipe pipe;
  require<FileError>(pipe.read_end.number() >= 0, "cannot run \"{}\": {}", command.front(),
                     std::strerror(errno));
  Redirections redirections;
  posix_spawn_file_actions_addopen(&redirections.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&redirections.actions, pipe.write_end.number(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&redirections.actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);

  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, arguments.front(), &redirections.actions, nullptr, arguments.data(), environ);
  require<FileError>(error != ENOENT, "there is no program \"{}\"; {}", command.front(), missing);
  require<FileError>(error == 0, "cannot run \"{}\": {}", command.front(), std::strerror(error));
  pipe.write_end.close();

  ChildOutput result;
  std::vector<char> buffer(1 << 16);
  for (;;) {
    const ssize_t count = ::read(pipe.read_end.number(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    result.output.append(buffer.data(), static_cast<std::size_t>(count));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return result;  // nobody keeps its status: the output must speak for itself
  result.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

}  // namespace tapeline
