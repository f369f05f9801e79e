#include "experiments/report/inline_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <regex>

#include "experiments/report/figure_script.h"
#include "experiments/report/html.h"

namespace tapeline {
namespace {

std::string rgb_pattern_colour(const std::smatch& match) {
  const auto part = [&](std::size_t i) { return std::atoi(match[i].str().c_str()); };
  return fmt::format("#{:02x}{:02x}{:02x}", part(1), part(2), part(3));
}

/// The page's name of a colour of the scripts.
std::string page_colour(const std::string& colour) {
  if (colour == figure_ink) return "var(--ink)";
  if (colour == figure_soft) return "var(--soft)";
  if (colour == figure_grid) return "var(--grid)";
  if (colour == figure_behind) return "var(--behind)";
  const std::vector<CurveColour>& colours = curve_colours();
  for (std::size_t i = 0; i < colours.size(); ++i) {
    if (colour == colours[i].light) return fmt::format("var(--curve{})", i);
  }
  return colour;
}

}  // namespace

std::string inline_svg(const std::string& svg, const Figure& figure) {
  std::string text = svg.substr(std::min(svg.find("<svg"), svg.size()));
  text = std::regex_replace(text, std::regex("<title>[^<]*</title>|<desc>[^<]*</desc>"), "");
  text = std::regex_replace(text, std::regex(" *xmlns(:xlink)?=\"[^\"]*\""), "");
  // The ground is the page's own.
  text = std::regex_replace(text, std::regex("<rect x=\"0\" y=\"0\"[^>]*/>"), "");
  // Nothing refers to the names of curves, and every small chart begins to count anew.
  text = std::regex_replace(text, std::regex(" id=\"gnuplot_plot_[^\"]*\""), "");
  text = std::regex_replace(text, std::regex("(id=['\"]|href=['\"]#)"), "$1" + figure.name + "-");
  text = std::regex_replace(text, std::regex("xlink:href"), "href");
  // So is what gnuplot clears under the points of interval bars.
  text = std::regex_replace(text, std::regex("#ffffff", std::regex::icase), "var(--ground)");
  text = std::regex_replace(text, std::regex("<svg[^v]*width=\"[^\"]*\" height=\"[^\"]*\""),
                            "<svg role=\"img\" aria-label=\"" + html_escape(figure.alternative) + "\"");
  const std::regex colour("rgb\\( *([0-9]+), *([0-9]+), *([0-9]+)\\)");
  std::string themed;
  std::size_t done = 0;
  for (std::sregex_iterator match(text.begin(), text.end(), colour), end; match != end; ++match) {
    const auto at = static_cast<std::size_t>(match->position());
    themed += text.substr(done, at - done) + page_colour(rgb_pattern_colour(*match));
    done = at + static_cast<std::size_t>(match->length());
  }
  return themed + text.substr(done);
}

}  // namespace tapeline
