#include "experiments/table.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "core/error.h"
#include "train/terminal.h"

namespace tapeline {
namespace {

constexpr std::size_t gap = 2;        // blanks between columns
constexpr std::size_t narrowest = 8;  // a left-aligned column is not made narrower than this

/// Bytes of the UTF-8 sequence that begins here; 1 for a byte that begins none.
std::size_t sequence_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return std::min(length, text.size());
}

std::size_t letter_width(std::string_view letter) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(letter[i]); };
  std::uint32_t code = byte(0);
  if (letter.size() > 1) code &= 0x7Fu >> letter.size();
  for (std::size_t i = 1; i < letter.size(); ++i) code = code << 6 | (byte(i) & 0x3Fu);
  const auto within = [&](std::uint32_t first, std::uint32_t last) { return code >= first && code <= last; };
  if (within(0x300, 0x36F) || within(0x200B, 0x200D) || within(0xFE00, 0xFE0F)) return 0;
  const bool wide = within(0x1100, 0x115F) || within(0x2E80, 0xA4CF) || within(0xAC00, 0xD7A3) ||
                    within(0xF900, 0xFAFF) || within(0xFF00, 0xFF60) || within(0x1F300, 0x1FAFF) ||
                    within(0x20000, 0x3FFFD);
  return wide ? 2 : 1;
}

/// The parts of a header that may stand on lines of their own: "nats/", "token".
std::vector<std::string> header_parts(std::string_view header) {
  std::vector<std::string> parts(1);
  for (const char letter : header) {
    const bool ended = parts.back().ends_with('/') || parts.back().ends_with(' ');
    if (letter != ' ' && ended) parts.emplace_back();
    parts.back() += letter;
  }
  return parts;
}

std::string without_end_blanks(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

/// The header over as many lines as it takes in that width.
std::vector<std::string> header_lines(std::string_view header, std::size_t width) {
  std::vector<std::string> lines;
  for (const std::string& part : header_parts(header)) {
    if (!lines.empty() && display_width(without_end_blanks(lines.back() + part)) <= width) {
      lines.back() += part;
    } else {
      lines.push_back(part);
    }
  }
  for (std::string& line : lines) line = without_end_blanks(std::move(line));
  return lines;
}

/// The least width that it can be broken to.
std::size_t least_header_width(std::string_view header) {
  std::size_t width = 0;
  for (const std::string& line : header_lines(header, 0)) width = std::max(width, display_width(line));
  return width;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    width += letter_width(text.substr(0, length));
    text.remove_prefix(length);
  }
  return width;
}

std::size_t terminal_width() { return terminal_columns(STDOUT_FILENO); }

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  const auto add = [&](std::string_view word) {
    if (!lines.back().empty()) {
      if (display_width(lines.back()) + 1 + display_width(word) <= width) {
        lines.back() += ' ';
        lines.back() += word;
        return;
      }
      lines.emplace_back();
    }
    while (!word.empty()) {
      const std::size_t length = sequence_length(word);
      const std::string_view letter = word.substr(0, length);
      if (!lines.back().empty() && display_width(lines.back()) + letter_width(letter) > width) {
        lines.emplace_back();
      }
      lines.back() += letter;
      word.remove_prefix(length);
    }
  };
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    if (blank > 0) add(text.substr(0, blank));
    text.remove_prefix(std::min(blank + 1, text.size()));
  }
  return lines;
}

std::string hanging(std::string_view lead, std::size_t margin, std::string_view text, std::size_t room) {
  std::string lines, front(lead);
  for (const std::string& line :
       room == 0 ? std::vector<std::string>{std::string(text)} : wrapped(text, room)) {
    lines += front + line + '\n';
    front.assign(margin, ' ');
  }
  return lines;
}

Table& Table::column(std::string header, Align align) {
  columns_.push_back({std::move(header), align});
  return *this;
}

Table& Table::row(std::vector<std::string> cells) {
  require<StateError>(cells.size() <= columns_.size(), "table: a row has {} cells, the table {} columns",
                      cells.size(), columns_.size());
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
  return *this;
}

Table& Table::rule() {
  rows_.emplace_back();
  return *this;
}

std::vector<std::size_t> Table::widths(std::size_t limit) const {
  std::vector<std::size_t> widths, cells;
  std::size_t total = 0;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t widest = 0;
    for (const auto& row : rows_) {
      if (!row.empty()) widest = std::max(widest, display_width(row[c]));
    }
    cells.push_back(widest);
    widths.push_back(std::max(widest, display_width(columns_[c].header)));
    total += widths.back() + (c == 0 ? 0 : gap);
  }
  // Takes a letter from the widest column that is wider than `least` of it, again and again.
  const auto narrow = [&](const auto& least) {
    while (limit != 0 && total > limit) {
      std::size_t* widest = nullptr;
      std::size_t most = 0;
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        const std::size_t floor = least(c);
        if (widths[c] <= floor || widths[c] <= most) continue;
        widest = &widths[c];
        most = widths[c];
      }
      if (widest == nullptr) return;
      --*widest;
      --total;
    }
  };
  const auto header = [&](std::size_t c) { return least_header_width(columns_[c].header); };
  narrow([&](std::size_t c) { return std::max(cells[c], header(c)); });
  // Numbers are never broken: the terminal will do it.
  narrow([&](std::size_t c) {
    return columns_[c].align == Align::left ? std::max(narrowest, header(c)) : widths[c];
  });
  return widths;
}

std::string Table::text(std::size_t width) const {
  const std::vector<std::size_t> widths = this->widths(width);
  std::string text;
  const auto add_line = [&](const auto& cell_of) {
    std::string line;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::string cell = cell_of(c);
      const std::string padding(widths[c] - std::min(widths[c], display_width(cell)), ' ');
      if (c > 0) line.append(gap, ' ');
      line += columns_[c].align == Align::left ? cell + padding : padding + cell;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  };
  const auto add_rule = [&] {
    std::size_t total = 0;
    for (std::size_t c = 0; c < widths.size(); ++c) total += widths[c] + (c == 0 ? 0 : gap);
    text += std::string(total, '-') + '\n';
  };
  std::vector<std::vector<std::string>> headers;
  std::size_t lines = 1;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    headers.push_back(header_lines(columns_[c].header, widths[c]));
    lines = std::max(lines, headers.back().size());
  }
  for (std::size_t line = 0; line < lines; ++line) {
    add_line([&](std::size_t c) {  // they stand on the rule
      const std::size_t above = lines - headers[c].size();
      return line < above ? std::string() : headers[c][line - above];
    });
  }
  add_rule();
  for (const auto& row : rows_) {
    if (row.empty()) {
      add_rule();
      continue;
    }
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 1;
    for (std::size_t c = 0; c < row.size(); ++c) {
      cells.push_back(display_width(row[c]) <= widths[c] ? std::vector<std::string>{row[c]}
                                                         : wrapped(row[c], widths[c]));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t line = 0; line < height; ++line) {
      add_line([&](std::size_t c) { return line < cells[c].size() ? cells[c][line] : std::string(); });
    }
  }
  return text;
}

std::string titled(std::string_view title, const Table& table, std::string_view note, std::size_t width) {
  std::string text = "\n";
  text += hanging("", 0, title, width);
  text += table.text(width);
  if (!note.empty()) text += hanging("", 0, note, width);
  return text;
}

}  // namespace tapeline
