#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "core/files.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/text.h"

/// The program as someone at a shell sees it.
namespace tapeline::test {

/// How a command ended, and what it said.
struct Ran {
  int code = 0;
  std::string out, err;
};

/// A folder of its own, in which shell commands run; $tapeline is the program, $small a small model.
class Shell {
 public:
  Shell() {
    std::string text;
    for (int i = 0; text.size() < 12000; ++i) text += i % 3 == 0 ? "let there be light, " : "and it was so. ";
    folder_.write("text.txt", text);
  }

  Ran operator()(const std::string& script) const {
    std::ofstream(folder_ / "script")
        << "cd '" << folder_.path().string() << "'\nexport XDG_CACHE_HOME=\"$PWD/cache\" OMP_NUM_THREADS=1\n"
        << "tapeline='" << TAPELINE_PROGRAM << "'\n"
        << "model='--set model.layers=1 --set model.width=16 --set model.heads=2 --set train.length=16 "
        << "--set train.tokens_per_step=64 --set evaluate.lengths=1x,2x --set evaluate.sliding_tokens=64'\n"
        << "small=\"--text text.txt $model --set train.steps=20\"\n"
        << "long=\"--text text.txt $model --set train.steps=30000\"\n"
        << script << "\n";
    const std::string script_file = (folder_ / "script").string();
    const int status =
        std::system(("sh " + script_file + " > " + script_file + ".out 2> " + script_file + ".err").c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(script_file + ".out"),
            read_file(script_file + ".err")};
  }
  const std::filesystem::path& folder() const { return folder_.path(); }
  /// A file in it.
  void write(const std::string& name, const std::string& content) const { folder_.write(name, content); }

 private:
  test::TemporaryFolder folder_;
};

/// Names in a folder, hidden ones too.
inline std::set<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}
inline bool one_line(const std::string& text) {
  return text.ends_with("\n") && std::count(text.begin(), text.end(), '\n') == 1;
}

/// One short line on standard error that begins with the program's name and holds all parts, and nothing on
/// standard output.
inline void check_refused(const Ran& ran, int code, const std::vector<std::string>& parts) {
  CAPTURE(ran.err);
  CHECK(ran.code == code);
  CHECK(ran.out.empty());
  CHECK(one_line(ran.err));
  CHECK(ran.err.starts_with("tapeline: "));
  CHECK(ran.err.size() < 3200);
  for (const std::string& part : parts) {
    CAPTURE(part);
    CHECK(contains(ran.err, part));
  }
}

}  // namespace tapeline::test
