#include "layers/positional/kinds_of_build.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace tapeline {
namespace {

// Both lists are written by the build: one line TAPELINE_KIND(name) for every kind compiled in, and for every
// other. An empty name ends them, for either may be empty.
#define TAPELINE_KIND(name) #name,
constexpr std::string_view built[] = {
#include "positional_kinds.inc"
    ""};
constexpr std::string_view left_out[] = {
#include "positional_kinds_left_out.inc"
    ""};
#undef TAPELINE_KIND

}  // namespace

std::span<const std::string_view> built_kinds() { return std::span(built).first(std::size(built) - 1); }
std::span<const std::string_view> left_out_kinds() {
  return std::span(left_out).first(std::size(left_out) - 1);
}
bool is_left_out(std::string_view kind) {
  return std::ranges::find(left_out_kinds(), kind) != left_out_kinds().end();
}

std::string_view default_kind() {
  constexpr std::string_view usual = "rope";
  return is_left_out(usual) ? built_kinds().front() : usual;
}

std::string left_out_text(std::span<const std::string_view> kinds) {
  return fmt::format(
      "which is not in this program: it was built with TAPELINE_POSITIONAL={}; use {}, or build it again: "
      "cmake "
      "--preset release -DTAPELINE_POSITIONAL=all",
      fmt::join(kinds, ";"), fmt::join(kinds, ", "));
}
std::string left_out_text() { return left_out_text(built_kinds()); }

std::string built_kinds_text(std::span<const std::string_view> kinds,
                             std::span<const std::string_view> others) {
  const std::string names = fmt::format("{}", fmt::join(kinds, ", "));
  return others.empty()
             ? names
             : fmt::format("{} (fixed when built: TAPELINE_POSITIONAL={})", names, fmt::join(kinds, ";"));
}
std::string built_kinds_text() { return built_kinds_text(built_kinds(), left_out_kinds()); }

}  // namespace tapeline
