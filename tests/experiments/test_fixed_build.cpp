#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include <fstream>
#include <string>

#include "core/seal.h"
#include "tests/experiments/shell.h"
#include "tests/support/kinds.h"
#include "train/checkpoint.h"
#include "train/config_derived.h"
#include "train/config_loader.h"

/// A program of fewer encodings (TAPELINE_POSITIONAL), and where any program tells which it has.
namespace tapeline::test {
namespace {

std::string names() { return fmt::format("{}", fmt::join(built_kinds(), ", ")); }

/// Exit code 2 and one line that names the choice of the build.
void check_left_out(const Ran& ran) { check_refused(ran, 2, {left_out_text()}); }

TEST_CASE("build: version, doctor, checkpoints and inspect tell the encodings") {
  const Shell shell;
  CHECK(contains(shell("$tapeline --version").out, "positional encodings: " + built_kinds_text() + "\n"));
  CHECK(contains(shell("$tapeline doctor --out run").out, names()));
  REQUIRE(shell("$tapeline train $small --set train.steps=1 --out run --quiet").code == 0);
  const std::string told = left_out_kinds().empty()
                               ? fmt::format("with all {} encodings", built_kinds().size())
                               : "with the encodings " + names();
  CHECK(contains(shell("COLUMNS=400 $tapeline inspect run").out, told));
  CHECK(contains(shell("$tapeline inspect run --json").out, "\"creator_positional\": \"" + names() + "\""));
}

TEST_CASE("fixed build: another kind is refused by every command" * needs_fixed_build()) {
  const Shell shell;
  const std::string kind(left_out_kinds().front());
  const std::string set = "positional.kind=" + kind;
  shell("printf '[positional]\\nkind = \"" + kind + "\"\\n' > my.toml");
  check_left_out(shell("$tapeline train $small --out run --set " + set));
  check_left_out(shell("$tapeline train my.toml $small --out run"));
  check_left_out(shell("env TAPELINE_POSITIONAL__KIND=" + kind + " $tapeline train $small --out run"));
  check_left_out(shell("$tapeline compare $small --seeds 1 --out run --encodings " + kind));
  check_left_out(
      shell("$tapeline compare $small --seeds 1 --out run --set 'compare.variant=[{name = \"a\", "
            "positional.kind = \"" +
            kind + "\"}]'"));
  check_left_out(shell("$tapeline encodings " + kind));
  CHECK(names_in(shell.folder()).count("run") == 0);
}

/// A run folder such as a program with all encodings makes of a model of that kind: the weights are those of
/// a kind without parameters, whose names no kind changes.
void make_run(const Shell& shell, const std::string& kind) {
  REQUIRE(shell("$tapeline train $small --set train.steps=2 --out run --quiet").code == 0);
  const std::filesystem::path file = shell.folder() / "run/checkpoints/step-00000002.h5";
  const Checkpoint made(file);
  ResolvedConfig config = made.config();
  const auto model = made.make_model();
  const auto optimizer = make_optimizer(config.config.optimizer, model->parameters());
  made.load_optimizer(*optimizer, model->parameters());
  config.config.positional.kind = kind;
  config.config.compare.encodings = {"none", "learned", "sinusoidal", "rope", "alibi"};
  save_checkpoint(file,
                  {.model = *model, .optimizer = optimizer.get(), .config = config, .record = made.record()});
  const std::string text = resolved_text(config.config);
  std::ofstream(shell.folder() / "run/config.toml") << sealed(text, stored_config_seal);
}

TEST_CASE("fixed build: a checkpoint of a kind that is left out is refused, inspect reads it" *
          needs_fixed_build()) {
  const Shell shell;
  make_run(shell, std::string(left_out_kinds().front()));
  check_left_out(shell("$tapeline evaluate run --lengths 1x"));
  check_left_out(shell("$tapeline generate run --prompt x"));
  check_left_out(shell("$tapeline train $small --from run --out other"));
  check_left_out(shell("$tapeline train --resume --out run"));
  const Ran seen = shell("$tapeline inspect run");
  CAPTURE(seen.err);
  CHECK(seen.code == 0);
  CHECK(contains(seen.out, left_out_kinds().front().data()));
}

TEST_CASE("fixed build: a checkpoint of its own kinds is as good as any, whoever made it" *
          needs_fixed_build()) {
  const Shell shell;
  make_run(shell, any_kind());
  for (const char* command :
       {"evaluate run --lengths 1x", "generate run --prompt x --tokens 2",
        "train $small --set train.steps=1 --from run --out other", "train --resume --out run",
        "compare $small --set train.steps=1 --seeds 1 --out c"}) {
    const Ran ran = shell(std::string("$tapeline ") + command + " --quiet");
    CHECK_MESSAGE(ran.code == 0, command, ": ", ran.err);
  }
}

}  // namespace
}  // namespace tapeline::test
