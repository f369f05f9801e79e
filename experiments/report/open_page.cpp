#include "experiments/report/open_page.h"

#include <cstdlib>

#include "core/child_process.h"
#include "core/error.h"

namespace tapeline {
namespace {

/// Starts the first of the programs that there is, with its own streams and in a session of its own, so that
/// neither this program nor the terminal waits for it.
constexpr const char* start_browser = R"sh(
for program in xdg-open sensible-browser; do
  if command -v "$program" >/dev/null; then
    setsid "$program" "$1" </dev/null >/dev/null 2>&1 &
    exit 0
  fi
done
exit 127
)sh";

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

std::string open_page(const std::filesystem::path& page) {
  if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY"))
    return "there is no desktop here (neither DISPLAY nor WAYLAND_DISPLAY is set)";
  try {
    const std::string file = std::filesystem::absolute(page).string();
    const ChildResult started = run_child({"sh", "-c", start_browser, "sh", file}, "", "a shell is needed");
    if (started.status == 0) return {};
  } catch (const FileError& error) {
    return error.what();
  }
  return "there is no xdg-open here; on Debian: apt-get install xdg-utils";
}

}  // namespace tapeline
