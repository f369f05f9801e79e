#include "experiments/report/gnuplot.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
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

/// The first line of what gnuplot complained of that says something.
std::string first_complaint(const std::string& text) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    if (line.find_first_not_of(" \t^\r") != std::string::npos) return line;
    begin = end + 1;
  }
  return "no message";
}

}  // namespace

std::string gnuplot_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') quoted += '\'';
    quoted += c == '\n' ? ' ' : c;
  }
  return quoted + '\'';
}

void run_gnuplot(std::string_view script) {
  // A socket instead of a pipe for its input: a child that ends early is an error code here, not SIGPIPE.
  std::array<int, 2> input{}, complaints{};
  require<FileError>(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, input.data()) == 0,
                     "report: making a channel to gnuplot: {}", std::strerror(errno));
  Descriptor to_child(input[0]), child_input(input[1]);
  require<FileError>(::pipe2(complaints.data(), O_CLOEXEC) == 0, "report: making a channel to gnuplot: {}",
                     std::strerror(errno));
  Descriptor from_child(complaints[0]), child_complaints(complaints[1]);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, child_input.number(), 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, child_complaints.number(), 2);
  std::array<char, 8> name{"gnuplot"};
  std::array<char, 3> no_start_up_file{"-d"};
  std::array<char*, 3> arguments{name.data(), no_start_up_file.data(), nullptr};
  pid_t child = -1;
  const int failure = ::posix_spawnp(&child, name.data(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  require<FileError>(
      failure == 0,
      "report: figures need gnuplot, which could not be started ({}); on Debian: apt-get install "
      "gnuplot-nox",
      std::strerror(failure));
  child_input.close();
  child_complaints.close();

  while (!script.empty()) {
    const ssize_t sent = ::send(to_child.number(), script.data(), script.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) break;  // it ended early: its exit code says why
    script.remove_prefix(static_cast<std::size_t>(sent));
  }
  to_child.close();
  std::string said;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t count = ::read(from_child.number(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    said.append(buffer.data(), static_cast<std::size_t>(count));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  require<FileError>(WIFEXITED(status) && WEXITSTATUS(status) == 0, "report: gnuplot failed: {}",
                     first_complaint(said));
}

}  // namespace tapeline
