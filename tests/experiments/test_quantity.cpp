#include "experiments/quantity.h"

#include <doctest/doctest.h>

#include <cctype>
#include <limits>

#include "core/counted.h"
#include "tests/experiments/shell.h"
#include "tests/support/kinds.h"

namespace tapeline::test {
namespace {

TEST_CASE("counted: the plural goes by the number") {
  CHECK(counted(1, "token") == "1 token");
  CHECK(counted(0, "token") == "0 tokens");
  CHECK(counted(std::size_t{21}, "cell") == "21 cells");
  CHECK(counted(1, "axis", "axes") == "1 axis");
  CHECK(counted(2, "axis", "axes") == "2 axes");
}

TEST_CASE("quantity: number and unit apart, the prefix with the unit") {
  CHECK(quantity(7.38e12, "FLOP") == "7.38 TFLOP");
  CHECK(quantity(215e6, "B") == "215 MB");
  CHECK(quantity(950, "B") == "950 B");
  CHECK(quantity(0, "B") == "0 B");
  CHECK(quantity(std::numeric_limits<double>::infinity(), "B") == "inf B");
}

TEST_CASE("one of a thing is told in the singular, and no unit sticks to its number") {
  const Shell shell;
  const Ran one = shell("$tapeline train $small --set train.steps=1 train.tokens_per_step=16 --out run");
  CHECK(contains(one.out, "1 step, loss"));
  CHECK(contains(one.err, ", 1 step of 16 tokens (1 window of 16, 1 at once), 1 thread\n"));
  const Ran compared = shell("$tapeline compare $small --encodings " + any_kind() +
                             " --seeds 1 --out c --set train.steps=1 --json 2>&1 > /dev/null");
  CHECK(contains(compared.out, "1 cell: about "));
  const std::string plan = shell("$tapeline train $small --dry-run").out;
  for (const char* unit : {" MFLOP a step, ", " MFLOP of training in all", "B a model"}) {
    CAPTURE(std::string(unit));
    CHECK(contains(plan, unit));
  }
  for (std::size_t at = plan.find("FLOP"); at != plan.npos; at = plan.find("FLOP", at + 1))
    CHECK_FALSE(std::isdigit(static_cast<unsigned char>(plan[at - 2])));
}

TEST_CASE("encodings: two names are refused in words, a configuration behind a name is not") {
  const Shell shell;
  const std::string name = any_kind();
  check_refused(shell("$tapeline encodings " + name + " " + name), 2,
                {"\"" + name + "\" and \"" + name + "\": one NAME at a time"});
  shell.write("wide.toml", "[model]\nwidth = 32\n");
  CHECK(shell("$tapeline encodings " + name + " wide.toml").code == 0);
  check_refused(shell("$tapeline encodings " + name + " nowhere.toml"), 2, {"there is no such file"});
}

}  // namespace
}  // namespace tapeline::test
