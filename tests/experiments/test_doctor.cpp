#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "experiments/doctor/cgroup.h"
#include "experiments/doctor/loaded_files.h"
#include "experiments/doctor/storage.h"
#include "experiments/doctor/text.h"
#include "layers/positional/kinds_of_build.h"
#include "tests/experiments/shell.h"

namespace tapeline::test {
namespace {

using Json = nlohmann::json;

/// What one run of `tapeline doctor --json` says; its exit code always follows from it.
class Report {
 public:
  explicit Report(const Ran& ran) : json_(Json::parse(ran.out)) {
    int problems = 0;
    for (const Json& finding : json_["findings"]) {
      CAPTURE(finding.dump());
      const std::string state = finding["state"];
      CHECK((state == "ok" || state == "note" || state == "problem"));
      CHECK(finding["found"] != "");
      CHECK((finding["mend"] == "") == (state == "ok"));
      problems += state == "problem" ? 1 : 0;
    }
    CHECK(json_["problems"] == problems);
    CHECK(ran.code == (problems > 0 ? 4 : 0));
  }
  const Json& operator[](const std::string& id) const {
    for (const Json& finding : json_["findings"]) {
      if (finding["id"] == id) return finding;
    }
    FAIL("there is no finding " << id);
    return json_;
  }

 private:
  Json json_;
};

void check_problem(const Json& finding, const std::string& found, const std::string& mend) {
  CAPTURE(finding.dump());
  CHECK(finding["state"] == "problem");
  CHECK(contains(finding["found"], found));
  CHECK(contains(finding["mend"], mend));
}

TEST_CASE("doctor: every finding has its state, leaves nothing behind") {
  const Shell shell;
  const auto before = names_in(shell.folder());
  const Ran ran = shell("$tapeline doctor --json --out deep/er/run");
  CAPTURE(ran.err);
  const Report report(ran);
  for (const char* id :
       {"program", "positional", "openblas", "onednn", "openmp", "hdf5", "highway", "fmt", "spdlog",
        "processor", "cores", "threads", "speed", "memory", "folder", "locking", "space", "gnuplot", "kjv"})
    CHECK(report[id].is_object());
  CHECK(report["positional"]["found"] == built_kinds_text());
  CHECK(contains(report["openblas"]["found"], "libopenblas"));
  CHECK(contains(report["folder"]["found"], "\"deep/er/run\" can be made in"));
  auto after = names_in(shell.folder());
  for (const char* name : {"script", "script.out", "script.err"}) after.erase(name);
  CHECK(after == before);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they must be loaded before all others
TEST_CASE("doctor: names the pthread flavour of OpenBLAS in front") {
  const Shell shell;
  const Report report(shell("LD_PRELOAD=" TAPELINE_PTHREAD_OPENBLAS " $tapeline doctor --json"));
  check_problem(report["openblas"], "pthread flavour", "unset LD_PRELOAD");
  CHECK(contains(report["openblas"]["found"], TAPELINE_PTHREAD_OPENBLAS));
  const std::string real = "/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0";
  if (!std::filesystem::exists(real)) {
    MESSAGE("skipped: the pthread flavour itself (Debian: libopenblas0-pthread) is not installed");
    return;
  }
  check_problem(Report(shell("LD_PRELOAD=" + real + " $tapeline doctor --json"))["openblas"],
                "pthread flavour", "unset LD_PRELOAD");
}

TEST_CASE("the pthread flavour of OpenBLAS in front: what computes says what to do, once") {
  const Shell shell;
  const Ran ran = shell("LD_PRELOAD=" TAPELINE_PTHREAD_OPENBLAS " $tapeline train $small --out run --quiet");
  CHECK(ran.code == 0);
  CHECK(one_line(ran.err));
  CHECK(contains(ran.err, "pthread flavour"));
  CHECK(contains(ran.err, "libopenblas-openmp-dev"));
}
#endif

TEST_CASE("doctor: names OMP_NUM_THREADS above the cores, and what it makes of other values") {
  const Shell shell;
  const Report many(shell("OMP_NUM_THREADS=5000,2 $tapeline doctor --json"));
  check_problem(many["threads"], "OMP_NUM_THREADS is \"5000,2\"", "export OMP_NUM_THREADS=");
  CHECK(contains(many["threads"]["found"], "1024 threads on "));
  CHECK_FALSE(contains(many["speed"]["found"], "1024"));
  const Report nonsense(shell("OMP_NUM_THREADS=many $tapeline doctor --json"));
  CHECK(nonsense["threads"]["state"] != "ok");
  CHECK(contains(nonsense["threads"]["found"], "\"many\""));
}

TEST_CASE("doctor: names the programs that are missing or say no") {
  const Shell shell;
  const Report missing(shell("mkdir empty; PATH=$PWD/empty $tapeline doctor --json"));
  check_problem(missing["gnuplot"], "not on the PATH", "apt-get install --no-install-recommends gnuplot-nox");
  check_problem(missing["kjv"], "not on the PATH", "bible-kjv bible-kjv-text");
  const Report broken(shell(
      "mkdir bad; printf '#!/bin/sh\\necho no display >&2\\nexit 3\\n' > bad/gnuplot; chmod +x bad/gnuplot\n"
      "cp bad/gnuplot bad/bible; PATH=$PWD/bad:$PATH $tapeline doctor --json"));
  check_problem(broken["gnuplot"], "ends with 3: no display", "gnuplot-nox");
  check_problem(broken["kjv"], "ends with 3", "bible-kjv-text");
}

TEST_CASE("doctor: names a run folder that cannot serve") {
  const TemporaryFolder top;
  top.write("text.txt", "a text");
  std::filesystem::create_symlink("nowhere", top / "link");
  const auto folder = [&](const std::filesystem::path& out) { return examine_storage(out).front(); };
  for (const char* out : {"text.txt", "text.txt/run", "link/run"}) {
    CAPTURE(out);
    CHECK(folder(top / out).state == Finding::State::problem);
    CHECK(contains(folder(top / out).found, "is not a folder"));
  }
  CHECK(folder("/proc/run").state == Finding::State::problem);
  CHECK(contains(folder("/proc/run").found, "\"/proc\" cannot be written to"));
  CHECK(folder(top.path()).state == Finding::State::ok);
  CHECK(folder(top / "a").found.ends_with("can be made in \"" + top.path().string() + "\""));
  CHECK(top.files() == 2);
  const Shell shell;
  CHECK(shell("$tapeline doctor --out ''").code == 2);
}

TEST_CASE("doctor: the text has a line for each finding, colour only where it is asked for") {
  const Findings findings = {
      {"one", Finding::State::ok, "is well", ""},
      {"second", Finding::State::problem, "is ill of a long illness", "take this pill"}};
  CHECK(findings_text(findings, 0, true, false) ==
        "ok       one     is well\n"
        "problem  second  is ill of a long illness\n"
        "                 mend: take this pill\n"
        "\n1 problem, no notes\n");
  CHECK(contains(findings_text(findings, 40, true, false), "is ill of a long\n                 illness\n"));
  CHECK(findings_text(findings, 0, false, false).starts_with("problem"));
  CHECK(findings_text({findings.front()}, 0, false, false).empty());
  CHECK(contains(findings_text(findings, 0, true, true), "\x1b[31mproblem\x1b[0m  second"));
  CHECK(findings_json(findings)["state"] == "problem");

  const Ran ran = Shell()("$tapeline doctor");
  CHECK_FALSE(contains(ran.out, "\x1b"));
  CHECK(contains(ran.out, "speed "));
}

TEST_CASE("doctor: OpenMP runtimes among the loaded files") {
  const std::string maps =
      "7f00-7f01 r-xp 00000000 08:01 12 /usr/lib/libgomp.so.1.0.0\n"
      "7f01-7f02 r--p 00001000 08:01 12 /usr/lib/libgomp.so.1.0.0\n"
      "7f03-7f04 r-xp 00000000 08:01 13 /opt/a b/libiomp5.so\n"
      "7f05-7f06 rw-p 00000000 00:00 0 \n"
      "7f05-7f06 rw-p 00000000 00:00 0 [heap]\n"
      "7f07-7f08 r-xp 00000000 08:01 14 /usr/lib/llvm/libomp.so.5\n"
      "7f09-7f0a r-xp 00000000 08:01 15 /usr/lib/libompitrace.so.40";
  CHECK(loaded_files(maps).size() == 4);
  CHECK(openmp_runtimes(loaded_files(maps)) == std::vector<std::string>{"/usr/lib/libgomp.so.1.0.0",
                                                                        "/opt/a b/libiomp5.so",
                                                                        "/usr/lib/llvm/libomp.so.5"});
  CHECK(loaded_files("").empty());
}

TEST_CASE("doctor: limits of control groups, both versions, the smallest up to the top") {
  const TemporaryFolder top;
  CHECK_FALSE(cgroup_limits("0::/service\n", top.path()).cores);
  top.write("cpu.max", "max 100000\n");
  top.write("service/cpu.max", "150000 100000\n");
  top.write("service/inner/memory.max", "max\n");
  top.write("service/memory.max", "500000000\n");
  const CgroupLimits two = cgroup_limits("0::/service/inner\n", top.path());
  CHECK(two.cores == 1.5);
  CHECK(two.memory_bytes == 5e8);

  top.write("cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  top.write("cpu,cpuacct/job/cpu.cfs_quota_us", "50000\n");
  top.write("cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  top.write("memory/memory.limit_in_bytes", "9223372036854771712\n");
  const CgroupLimits one = cgroup_limits("4:cpu,cpuacct:/job\n3:memory:/\n", top.path());
  CHECK(one.cores == 0.5);
  CHECK_FALSE(one.memory_bytes);
}

}  // namespace
}  // namespace tapeline::test
