#pragma once

#include <toml++/toml.h>
#include <span>
#include <string_view>

namespace tapeline {

/// Takes out of a stored configuration what concerns encodings that this build leaves out and not the one
/// model: the list to compare, variants and evaluations of those kinds, their sections. `positional.kind`
/// and `positional.layers.pattern` themselves stay, for the reader to refuse. A model of another encoding is
/// as good as any, wherever it was trained.
void drop_left_out(toml::table& table, std::span<const std::string_view> left_out);

}  // namespace tapeline
