#pragma once

#include <vector>

#include "experiments/command_line/command.h"
#include "experiments/command_line/manual_page.h"

namespace tapeline {

/// All pages: tapeline(1), one of each command, tapeline-train(1) and so on, and tapeline-config(5).
std::vector<ManualPage> manual_pages(const Program& program);

}  // namespace tapeline
