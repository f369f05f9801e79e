#pragma once

#include <string>
#include <string_view>

namespace tapeline {

/// The text with what HTML would take for markup replaced.
std::string html_escape(std::string_view text);

/// Stands in the head of every page of ours: by it a page is known that may be replaced.
inline constexpr std::string_view page_origin = "<meta name=\"generator\" content=\"tapeline\">";

/// A whole page with its style inside: readable on paper-white and dark grounds and on narrow screens, no
/// script, nothing fetched; the keyboard can jump to the element with the id "answer". `title` is text,
/// `body` is HTML.
std::string html_page(std::string_view title, std::string_view body);

}  // namespace tapeline
