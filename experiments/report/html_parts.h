#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/report/tables.h"

namespace tapeline {

/// A table of the page in a frame of its own, which scrolls sideways, also by keyboard, where it is wider
/// than the page. `id`: of the line above, which names it. `best`: by column, the cell text that is set in
/// bold.
std::string html_table(const ReportTable& table, std::string_view id,
                       const std::vector<std::string>& best = {});

/// A paragraph of plain text.
std::string html_paragraph(std::string_view text);
/// The same, smaller: what must be known beside something.
std::string html_note(std::string_view text);

/// A part that opens at a click or the enter key. `summary` is text, `body` is HTML.
std::string html_folded(std::string_view summary, std::string_view body);

/// Text as it stands, to be copied whole; `label` says what it is.
std::string html_copyable(std::string_view text, std::string_view label);

}  // namespace tapeline
