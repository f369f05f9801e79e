#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tapeline {

/// The names of the encodings compiled in, in the order of TAPELINE_POSITIONAL, or of the source when it
/// names none.
std::span<const std::string_view> built_kinds();
/// The encodings that TAPELINE_POSITIONAL left out when this was built; none in an ordinary build.
std::span<const std::string_view> left_out_kinds();
bool is_left_out(std::string_view kind);
/// The kind of a model of which nothing is said: rope; where that is left out, the first one built.
std::string_view default_kind();

/// What to say of a kind that is not among `built`, behind "… is \"rope\"": which there are, who chose them,
/// how to have all.
std::string left_out_text(std::span<const std::string_view> built);
/// The same for this build.
std::string left_out_text();

/// "none, rope (fixed when built: TAPELINE_POSITIONAL=none;rope)"; without the brackets when none is left
/// out.
std::string built_kinds_text(std::span<const std::string_view> built,
                             std::span<const std::string_view> left_out);
/// The same for this build.
std::string built_kinds_text();

}  // namespace tapeline
