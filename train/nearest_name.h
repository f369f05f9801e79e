#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tapeline {

/// The fewest letters inserted, removed, exchanged or swapped with their neighbour that turn one word into
/// the other.
std::size_t edit_distance(std::string_view first, std::string_view second);

/// The candidate nearest to `name`, if it is near enough to be what was meant (a third of its letters, at
/// least two); else empty. Of equals the first.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

/// "; did you mean \"width\"?", or nothing for an empty name.
std::string did_you_mean(std::string_view nearest);

}  // namespace tapeline
