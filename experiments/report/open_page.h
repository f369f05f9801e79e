#pragma once

#include <filesystem>
#include <string>

namespace tapeline {

/// Shows a page in the browser of the desktop (xdg-open, else sensible-browser), which is left running and
/// not waited for. The result says why not, for people; empty when a browser was started.
std::string open_page(const std::filesystem::path& page);

}  // namespace tapeline
