#include "experiments/report/html_parts.h"

#include <fmt/format.h>

#include <regex>

#include "experiments/report/html.h"

namespace tapeline {
namespace {

/// A heading that may break behind the dots of a key and the comma, and nowhere in "1.5×" and "stride 16".
std::string breakable(std::string text) {
  text = std::regex_replace(text, std::regex("\\.(?![0-9])"), ".<wbr>");
  return std::regex_replace(text, std::regex("stride "), "stride&nbsp;");
}

}  // namespace

std::string html_table(const ReportTable& table, std::string_view id, const std::vector<std::string>& best) {
  std::string text = fmt::format(
      "<p class=\"title\" id=\"{0}\">{1}.</p>\n<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
      "aria-labelledby=\"{0}\"><div><table aria-labelledby=\"{0}\">\n<thead><tr>",
      id, html_escape(table.title));
  for (const std::string& header : table.header) {
    text += fmt::format("<th scope=\"col\">{}</th>", breakable(html_escape(header)));
  }
  text += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : table.rows) {
    text += "<tr><th scope=\"row\">" + html_escape(row.front()) + "</th>";
    for (std::size_t c = 1; c < row.size(); ++c) {
      const bool none = row[c] == "n/a" || row[c] == "diverged" || row[c] == "–";
      const bool first = c < best.size() && !none && row[c] == best[c];
      text += fmt::format("<td{}>{}</td>",
                          none    ? " class=\"none\""
                          : first ? " class=\"best\""
                                  : "",
                          html_escape(row[c]));
    }
    text += "</tr>\n";
  }
  text += "</tbody></table></div></div>\n";
  if (table.notes.empty()) return text;
  std::string notes;
  for (const std::string& note : table.notes) notes += (notes.empty() ? "" : " ") + note;
  return text + html_note(notes);
}

std::string html_paragraph(std::string_view text) { return fmt::format("<p>{}</p>\n", html_escape(text)); }

std::string html_note(std::string_view text) {
  return fmt::format("<p class=\"note\">{}</p>\n", html_escape(text));
}

std::string html_folded(std::string_view summary, std::string_view body) {
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", html_escape(summary), body);
}

std::string html_copyable(std::string_view text, std::string_view label) {
  return fmt::format("<pre class=\"whole\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">{}</pre>\n",
                     html_escape(label), html_escape(text));
}

}  // namespace tapeline
