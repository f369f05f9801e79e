#include "experiments/doctor/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "experiments/table.h"

namespace tapeline {
namespace {

std::string coloured(std::string_view text, Finding::State state) {
  const int code = state == Finding::State::ok ? 32 : state == Finding::State::note ? 33 : 31;
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string counted_or_no(std::size_t number, std::string_view what) {
  return fmt::format("{} {}{}", number == 0 ? "no" : fmt::format("{}", number), what, number == 1 ? "" : "s");
}

}  // namespace

std::string_view state_name(Finding::State state) {
  return state == Finding::State::ok ? "ok" : state == Finding::State::note ? "note" : "problem";
}

std::size_t count(const Findings& findings, Finding::State state) {
  return static_cast<std::size_t>(std::ranges::count(findings, state, &Finding::state));
}

std::string findings_text(const Findings& findings, std::size_t width, bool all, bool colour) {
  constexpr std::size_t state_width = 7, narrowest = 20;
  std::size_t id_width = 0;
  for (const Finding& finding : findings) id_width = std::max(id_width, finding.id.size());
  const std::size_t margin = state_width + 2 + id_width + 2;
  const std::size_t room = width == 0 ? 0 : std::max(narrowest, width - std::min(width, margin));
  std::string text;
  for (const Finding& finding : findings) {
    if (finding.state == Finding::State::ok && !all) continue;
    const std::string state = fmt::format("{:<{}}", state_name(finding.state), state_width);
    text += fmt::format("{}  {:<{}}", colour ? coloured(state, finding.state) : state, finding.id, id_width);
    text += hanging("  ", margin, finding.found, room);
    if (!finding.mend.empty()) text += fmt::format("{}mend: {}\n", std::string(margin, ' '), finding.mend);
  }
  const std::size_t problems = count(findings, Finding::State::problem);
  const std::size_t notes = count(findings, Finding::State::note);
  if (all || problems > 0 || notes > 0)
    text += fmt::format("\n{}, {}\n", counted_or_no(problems, "problem"), counted_or_no(notes, "note"));
  return text;
}

nlohmann::ordered_json findings_json(const Findings& findings) {
  const std::size_t problems = count(findings, Finding::State::problem);
  const std::size_t notes = count(findings, Finding::State::note);
  const auto worst = problems > 0 ? Finding::State::problem
                     : notes > 0  ? Finding::State::note
                                  : Finding::State::ok;
  nlohmann::ordered_json json = {{"state", state_name(worst)}, {"problems", problems}, {"notes", notes}};
  json["findings"] = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    json["findings"].push_back({{"id", finding.id},
                                {"state", state_name(finding.state)},
                                {"found", finding.found},
                                {"mend", finding.mend}});
  }
  return json;
}

}  // namespace tapeline
