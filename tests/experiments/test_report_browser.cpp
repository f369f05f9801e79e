#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "core/child_process.h"
#include "core/files.h"
#include "experiments/report/report.h"
#include "tests/experiments/comparison_samples.h"
#include "tests/support/skipped.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/text.h"

/// The page in a real browser (Debian: chromium), where there is one.
namespace tapeline {
namespace {

constexpr const char* python = "/usr/bin/python3";
constexpr const char* browser = "/usr/bin/chromium";

/// A decorator: left out, and told at the end of the tests, where there is no browser.
struct NeedsBrowser {
  void fill(doctest::detail::TestCase& test) const {
    test::skip(test, !std::filesystem::exists(browser)  ? "without chromium"
                     : !std::filesystem::exists(python) ? "without python3"
                                                        : "");
  }
};

void check_page(const Comparison& comparison) {
  const test::TemporaryFolder folder;
  const ReportOutcome outcome = write_report(comparison, folder.path());
  REQUIRE(outcome.figures_missing.empty());
  // Alone, as someone gets it by mail.
  const test::TemporaryFolder elsewhere;
  std::filesystem::copy_file(outcome.page, elsewhere / "report.html");
  const ChildResult looked =
      run_child({python, TAPELINE_SOURCE_DIRECTORY "/tests/experiments/browser/look_at_page.py", browser,
                 (elsewhere / "report.html").string(), elsewhere.path().string()},
                "", "python3 is needed");
  REQUIRE_MESSAGE(looked.status == 0, looked.messages);
  const nlohmann::json told = nlohmann::json::parse(looked.output);
  REQUIRE(told["looks"].size() == 6);
  std::set<std::string> grounds;
  for (const nlohmann::json& look : told["looks"]) {
    CAPTURE(look.dump(1));
    CHECK(look["complaints"].empty());
    CHECK(look["requested"] == nlohmann::json::array({told["page"]}));  // itself, and nothing else
    CHECK(look["page_width"] == look["width"]);                         // nothing of the page lies beside it
    CHECK(look["opened_page_width"] == look["width"]);
    CHECK(look["lowest_contrast"] >= 4.5);
    CHECK(look["opened_lowest_contrast"] >= 4.5);
    CHECK(look["pictures"] >= 2);
    CHECK(look["nameless_pictures"] == 0);
    CHECK(std::filesystem::file_size(look["screenshot"].get<std::string>()) > 10000);
    grounds.insert(look["ground"].get<std::string>());
  }
  CHECK(grounds.size() == 2);  // light and dark
  const nlohmann::json& keyboard = told["keyboard"];
  CHECK(keyboard["reached"] == keyboard["reachable"]);
  CHECK(keyboard["without_outline"] == 0);
}

TEST_CASE("browser: a page with everything is quiet, fetches nothing, fits narrow screens, has both schemes" *
          NeedsBrowser()) {
  Comparison comparison = test::sample_comparison(3);
  test::add_early_tokens(comparison);
  test::add_attention(comparison);
  test::add_context_probes(comparison);
  comparison.command =
      "tapeline compare --preset toy --encodings rope,learned --seeds 3 --out " + std::string(90, 'x');
  comparison.text_digest = std::string(64, 'f');
  check_page(comparison);
}

TEST_CASE("browser: so does a page of twenty-one encodings" * NeedsBrowser()) {
  check_page(test::many_encodings(21));
}

}  // namespace
}  // namespace tapeline
