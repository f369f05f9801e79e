#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tapeline {

/// Columns on a terminal of what is 1, 2 (East Asian wide) or 0 (combining) wide in UTF-8.
std::size_t display_width(std::string_view text);
/// Columns of the terminal on standard output; 0 (no limit) when it is none.
std::size_t terminal_width();

/// A table of aligned plain text: a line of headers, a rule, the rows. Where it is wider than allowed,
/// headers that are wider than what stands below them are broken over several lines, at blanks and behind
/// slashes; then the widest left-aligned columns are narrowed and their cells broken likewise.
class Table {
 public:
  enum class Align { left, right };

  Table& column(std::string header, Align align = Align::right);
  /// Missing cells at the end are empty. Throws StateError for more cells than columns.
  Table& row(std::vector<std::string> cells);
  /// A rule between rows.
  Table& rule();

  /// Ends with a line break; no line has blanks at its end. `width` 0: no limit.
  std::string text(std::size_t width = 0) const;

 private:
  struct Column {
    std::string header;
    Align align;
  };
  std::vector<std::size_t> widths(std::size_t limit) const;
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;  ///< one without cells: a rule
};

/// `text` broken at blanks into lines of at most `width` columns; a longer word is broken anywhere.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// `lead`, and behind it `text` in lines of at most `room` columns, each ended by a line break; the second
/// and further ones begin with `margin` blanks, the columns that the lead takes. `room` 0: one line, as it
/// stands.
std::string hanging(std::string_view lead, std::size_t margin, std::string_view text, std::size_t room);

/// A table between its title and what is to be known of it (empty: nothing), a blank line in front. `width`
/// 0: no limit.
std::string titled(std::string_view title, const Table& table, std::string_view note, std::size_t width);

}  // namespace tapeline
