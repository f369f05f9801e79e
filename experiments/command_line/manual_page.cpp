#include "experiments/command_line/manual_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace tapeline {
namespace {

/// Text that no part of can be taken for a request: a backslash, a hyphen that is a minus, a line that begins
/// with a dot or a quote.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool line_begins = result.empty() || result.back() == '\n';
    if (line_begins && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  return result;
}

/// As one argument of a request.
std::string argument(std::string_view text) {
  std::string result = "\"";
  for (const char c : escaped(text)) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

}  // namespace

ManualPage::ManualPage(std::string title, int number, std::string_view source, std::string_view line)
    : title_(std::move(title)), number_(number) {
  text_ = fmt::format(".TH {} {} \"\" {}\n", argument(upper(title_)), number_, argument(source));
  section("NAME");
  text_ += fmt::format("{} \\- {}\n", escaped(title_), escaped(line));
}

ManualPage& ManualPage::section(std::string_view title) {
  text_ += fmt::format(".SH {}\n", argument(title));
  return *this;
}

ManualPage& ManualPage::paragraph(std::string_view text) {
  text_ += fmt::format(".PP\n{}\n", escaped(text));
  return *this;
}

ManualPage& ManualPage::bold_line(std::string_view text) {
  const std::size_t end = std::min(text.find(" ["), text.size());
  text_ += fmt::format(".PP\n\\fB{}\\fR{}\n", escaped(text.substr(0, end)), escaped(text.substr(end)));
  return *this;
}

ManualPage& ManualPage::entry(std::string_view tag, std::string_view text) {
  text_ += fmt::format(".TP\n\\fB{}\\fR\n{}\n", escaped(tag), escaped(text));
  return *this;
}

ManualPage& ManualPage::verbatim(const std::vector<std::string>& lines) {
  text_ += ".PP\n.nf\n.RS 4\n";
  for (const std::string& line : lines) text_ += escaped(line) + '\n';
  text_ += ".RE\n.fi\n";
  return *this;
}

ManualPage& ManualPage::see_also(const std::vector<std::string>& pages) {
  section("SEE ALSO");
  for (const std::string& page : pages) {
    const std::size_t bracket = std::min(page.find('('), page.size());
    text_ += fmt::format(".BR {} {}{}\n", argument(page.substr(0, bracket)), escaped(page.substr(bracket)),
                         &page == &pages.back() ? "" : ",");
  }
  return *this;
}

std::string ManualPage::file_name() const { return fmt::format("man{1}/{0}.{1}", title_, number_); }

}  // namespace tapeline
