#include "core/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "core/descriptor.h"
#include "core/error.h"

extern char** environ;

namespace tapeline {
namespace {

[[noreturn]] void fail_to_run(const std::string& program, int error) {
  fail<FileError>("cannot run \"{}\": {}", program, std::generic_category().message(error));
}

/// The two ends of a pipe.
struct Pipe {
  Descriptor read_end, write_end;
  bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read_end.reset(ends[0]);
    write_end.reset(ends[1]);
    return true;
  }
};

/// How the child begins: its three streams, no signal blocked, none ignored.
struct Beginning {
  posix_spawn_file_actions_t streams;
  posix_spawnattr_t attributes;
  Beginning() {
    posix_spawn_file_actions_init(&streams);
    posix_spawnattr_init(&attributes);
    sigset_t none, ignored;
    sigemptyset(&none);
    sigemptyset(&ignored);
    sigaddset(&ignored, SIGPIPE);
    sigaddset(&ignored, SIGXFSZ);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &ignored);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  Beginning(const Beginning&) = delete;
  Beginning& operator=(const Beginning&) = delete;
  ~Beginning() {
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&streams);
  }
};

}  // namespace

ChildResult run_child(const std::vector<std::string>& command, std::string_view input,
                      const std::string& missing) {
  const std::string& program = command.front();
  // Input and messages are files in memory, only the output is a pipe: so neither side can wait for the
  // other.
  const Descriptor given(::memfd_create("input", MFD_CLOEXEC)), said(::memfd_create("messages", MFD_CLOEXEC));
  Pipe written;
  if (given.number() < 0 || said.number() < 0 || !written.open() || !write_all(given.number(), input) ||
      ::lseek(given.number(), 0, SEEK_SET) != 0) {
    fail_to_run(program, errno);
  }
  Beginning beginning;
  posix_spawn_file_actions_adddup2(&beginning.streams, given.number(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&beginning.streams, written.write_end.number(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&beginning.streams, said.number(), STDERR_FILENO);

  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, program.c_str(), &beginning.streams, &beginning.attributes,
                                   arguments.data(), environ);
  // EACCES is also what a folder of PATH that may not be searched makes of a program that is nowhere.
  require<FileError>(error != ENOENT && error != EACCES, "there is no program \"{}\"; {}", program, missing);
  if (error != 0) fail_to_run(program, error);
  written.write_end.close();

  ChildResult result;
  read_all(written.read_end.number(), result.output);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return result;  // nobody keeps its status: the output must speak for itself
  result.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  if (::lseek(said.number(), 0, SEEK_SET) == 0) read_all(said.number(), result.messages);
  return result;
}

}  // namespace tapeline
