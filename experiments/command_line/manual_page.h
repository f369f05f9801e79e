#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tapeline {

/// Writes one manual page in the language of man(7). It has no date: the same program gives the same bytes.
class ManualPage {
 public:
  /// `title`: "tapeline-train"; `number`: 1 for programs, 5 for files; `source`: "tapeline 0.1.0"; `line`:
  /// what whatis(1) shows.
  ManualPage(std::string title, int number, std::string_view source, std::string_view line);

  ManualPage& section(std::string_view title);
  ManualPage& paragraph(std::string_view text);
  /// A line that stands as it is, the command in bold: the synopsis.
  ManualPage& bold_line(std::string_view text);
  /// A bold tag, its text indented below.
  ManualPage& entry(std::string_view tag, std::string_view text);
  /// Lines as they would be typed.
  ManualPage& verbatim(const std::vector<std::string>& lines);
  /// The last section: "SEE ALSO" with names such as "tapeline(1)".
  ManualPage& see_also(const std::vector<std::string>& pages);

  /// Below a folder of manual pages: "man1/tapeline-train.1".
  std::string file_name() const;
  const std::string& text() const { return text_; }

 private:
  std::string title_;
  int number_;
  std::string text_;
};

}  // namespace tapeline
