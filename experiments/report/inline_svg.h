#pragma once

#include <string>

#include "experiments/report/figure.h"

namespace tapeline {

/// The drawing for inside a page: no declaration, no namespace, no outside reference; colours are the page's
/// (--ink, --soft, --grid, --behind, --curve0, ...), so that it follows light and dark; ids are unique to
/// `figure`.
std::string inline_svg(const std::string& svg, const Figure& figure);

}  // namespace tapeline
