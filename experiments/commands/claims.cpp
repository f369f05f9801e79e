#include "experiments/commands/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/error.h"
#include "experiments/claims/listing.h"
#include "experiments/commands/common.h"
#include "experiments/compare/stored.h"
#include "experiments/exit_code.h"
#include "experiments/output.h"
#include "experiments/table.h"

namespace tapeline {
namespace {

struct ClaimsOptions {
  std::vector<std::string> words, folders;
  OutputOptions output;
};

/// What the words mean: ids of claims, and folders of comparisons.
struct AskedClaims {
  std::vector<std::string> ids;
  std::vector<std::filesystem::path> folders;
};

/// A word that is an id is one; else a path, or what is there; else a wrong id.
AskedClaims read_words(const ClaimsOptions& options) {
  const std::vector<std::string> known = claim_ids();
  AskedClaims asked;
  for (const std::string& word : options.words) {
    const bool is_id = std::ranges::find(known, word) != known.end();
    std::error_code unreadable;  // a name that no file can have is none
    if (!is_id && (word.find('/') != std::string::npos || std::filesystem::exists(word, unreadable))) {
      asked.folders.emplace_back(word);
    } else {
      asked.ids.emplace_back(find_claim(word).id);
    }
  }
  asked.folders.insert(asked.folders.end(), options.folders.begin(), options.folders.end());
  return asked;
}

/// By the first comparison that has what the claim is about.
ClaimFinding test_on(const Claim& claim, const std::vector<StoredComparison>& given) {
  ClaimFinding found = test_claim(claim, given.empty() ? nullptr : &given.front().comparison);
  for (const StoredComparison& one : given) {
    if (claim.judge == nullptr || given.size() == 1) break;
    found = test_claim(claim, &one.comparison);
    if (found.verdict == ClaimVerdict::needs_comparison) continue;
    found.figure += fmt::format(" ({})", one.folders.front().string());
    break;
  }
  return found;
}

std::vector<TestedClaim> test_claims(const AskedClaims& asked) {
  const std::vector<StoredComparison> given = read_comparisons(asked.folders);
  std::vector<TestedClaim> tested;
  for (const ClaimGroup& group : claim_groups()) {
    for (const Claim& claim : group.claims) {
      if (!asked.ids.empty() && std::ranges::find(asked.ids, claim.id) == asked.ids.end()) continue;
      tested.push_back({group.subject, &claim, test_on(claim, given)});
    }
  }
  return tested;
}

int claims(const ClaimsOptions& options) {
  options.output.set_up_computing();
  const AskedClaims asked = read_words(options);
  const std::vector<TestedClaim> tested = test_claims(asked);
  if (options.output.json) {
    write_output(printed_json(claims_json(tested)));
    return exit_code::done;
  }
  const std::size_t width = terminal_width();
  if (asked.ids.empty()) {
    write_output(claims_text(tested, width));
    return exit_code::done;
  }
  std::string text;
  for (const TestedClaim& one : tested) text += (text.empty() ? "" : "\n") + claim_text(one, width);
  write_output(text);
  return exit_code::done;
}

}  // namespace

Command claims_command() {
  const auto options = std::make_shared<ClaimsOptions>();
  Command command{.name = "claims",
                  .description = "what is said about positional encodings, each statement tested here",
                  .examples = {"tapeline claims", "tapeline claims rope-decay",
                               "tapeline claims runs/compare-toy --json"},
                  .run = [options] { return claims(*options); },
                  .computes = true};
  command.options = {
      {.name = "CLAIM",
       .help =
           "ids of claims, to be told in full; and folders of comparisons, whose trained models are asked",
       .target = &options->words,
       .offers = claim_ids(),
       .path = Option::Path::folder},
      {.name = "--compare",
       .value = "DIR",
       .help = "the folder of a comparison, where its name is that of a claim",
       .target = &options->folders,
       .path = Option::Path::folder}};
  command.details = {
      "Blog posts, question lists and papers say much about positional encodings: that the sinusoid of "
      "position 0 is zero, that RoPE makes attention fall with distance, that ALiBi needs no tuning. Every "
      "such statement has its source here, a computation or an experiment that tests it, the figure that "
      "came out, and a verdict: true, false, true on average (of means, not of every number), not at this "
      "scale.",
      "Most are computed with the program's own encodings and small random models, in seconds, and come out "
      "the same every time. Those about trained models say \"needs a comparison\", and which command makes "
      "it; given the folder of a comparison they are judged by the 95 % t-interval over its seeds. A "
      "quantity is asked to be on one side of a bound. The whole interval on the side of the statement: "
      "true. On the other side: false, or, where published results of larger models support the statement, "
      "not at this scale. The bound within the interval: not at this scale, and the figure says that these "
      "seeds do not settle it. One seed has no interval: its value alone decides, and the figure says so. "
      "Models that have hardly been trained, and do no better with more before them, are not asked.",
      "Several folders may be given: shares of one comparison count as one, and of different comparisons the "
      "first that has what a claim is about is asked."};
  options->output.add_to(command);
  return command;
}

}  // namespace tapeline
