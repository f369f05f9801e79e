#include "experiments/claims/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/counted.h"
#include "experiments/table.h"

namespace tapeline {
namespace {

/// Columns of the terminal that are left for a text behind a margin; 0: no limit.
std::size_t room_behind(std::size_t margin, std::size_t width) {
  constexpr std::size_t least = 20;
  return width == 0 ? 0 : std::max(least, width - std::min(width, margin));
}

/// The figure; where models are missing also how to make them.
std::string figure_text(const TestedClaim& tested) {
  const std::string& figure = tested.finding.figure;
  if (tested.finding.verdict != ClaimVerdict::needs_comparison) return figure;
  const std::string before = figure == no_models_given ? std::string() : fmt::format("{}; ", figure);
  return fmt::format("{}made by: {}", before, tested.claim->command);
}

Index count_of(const std::vector<TestedClaim>& tested, ClaimVerdict verdict) {
  return std::ranges::count(tested, verdict, [](const TestedClaim& one) { return one.finding.verdict; });
}

}  // namespace

std::string claims_text(const std::vector<TestedClaim>& tested, std::size_t width) {
  constexpr std::size_t margin = 20;  // the longest verdict, and a gap
  const std::size_t room = room_behind(margin, width);
  std::string text;
  std::string_view subject;
  for (const TestedClaim& one : tested) {
    if (one.subject != subject) {
      text += fmt::format("{}{}\n{}\n\n", text.empty() ? "" : "\n", one.subject,
                          std::string(display_width(one.subject), '-'));
    }
    subject = one.subject;
    const std::string blank(margin, ' ');
    text += hanging(fmt::format("{:<{}}", claim_verdict_text(one.finding.verdict), margin), margin,
                    one.claim->statement, room);
    text += hanging(blank, margin, figure_text(one), room);
    text += hanging(blank, margin, fmt::format("{} | {}", one.claim->id, one.claim->source), room);
    text += '\n';
  }
  text += hanging("", 0, claim_counts_text(tested) + ".", width);
  if (count_of(tested, ClaimVerdict::needs_comparison) > 0) {
    text +=
        hanging("", 0,
                "Those that need a comparison are judged by the folder of one that has what they ask for: "
                "tapeline claims runs/compare-toy",
                width);
  }
  return text + hanging("", 0, "One in full, with what is computed: tapeline claims ID", width);
}

std::string claim_text(const TestedClaim& tested, std::size_t width) {
  const Claim& claim = *tested.claim;
  std::string text = hanging("", 0, fmt::format("{}: {}", claim.id, claim.statement), width) + '\n';
  const auto line = [&](std::string_view label, std::string_view value) {
    constexpr std::size_t margin = 14;
    text += hanging(fmt::format("  {:<{}}", label, margin - 2), margin, value, room_behind(margin, width));
  };
  line("verdict", claim_verdict_text(tested.finding.verdict));
  line("figure", tested.finding.figure);
  line("source", claim.source);
  line("computed", claim.computed);
  if (!claim.command.empty()) line("models", claim.command);
  return text;
}

std::string claim_counts_text(const std::vector<TestedClaim>& tested) {
  std::string text = counted(tested.size(), "statement");
  std::string_view before = ": ";
  const auto add = [&](ClaimVerdict verdict, std::string_view one, std::string_view several) {
    const Index count = count_of(tested, verdict);
    if (count == 0) return;
    text += fmt::format("{}{} {}", before, count, count == 1 ? one : several);
    before = ", ";
  };
  for (const ClaimVerdict verdict : {ClaimVerdict::is_true, ClaimVerdict::on_average, ClaimVerdict::is_false,
                                     ClaimVerdict::not_at_this_scale}) {
    add(verdict, claim_verdict_text(verdict), claim_verdict_text(verdict));
  }
  add(ClaimVerdict::needs_comparison, "needs a comparison", "need a comparison");
  add(ClaimVerdict::not_in_build, "not in this build", "not in this build");
  return text;
}

nlohmann::ordered_json claim_json(const TestedClaim& tested) {
  const Claim& claim = *tested.claim;
  nlohmann::ordered_json json = {{"id", claim.id},
                                 {"subject", tested.subject},
                                 {"statement", claim.statement},
                                 {"source", claim.source},
                                 {"verdict", claim_verdict_text(tested.finding.verdict)},
                                 {"figure", tested.finding.figure},
                                 {"computed", claim.computed}};
  if (!claim.command.empty()) json["command"] = claim.command;
  return json;
}

nlohmann::ordered_json claims_json(const std::vector<TestedClaim>& tested) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const TestedClaim& one : tested) json.push_back(claim_json(one));
  return json;
}

}  // namespace tapeline
