#include <algorithm>

#include "experiments/report/tables.h"
#include "experiments/table.h"

namespace tapeline {
namespace {

std::size_t widest_word(const std::string& text) {
  std::size_t widest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    widest = std::max(widest, display_width(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return widest;
}

}  // namespace

std::string terminal_text(const ReportTable& table, std::size_t width) {
  const auto set = [&](std::size_t begin, std::size_t end) {
    Table text;
    std::vector<std::size_t> columns;
    for (std::size_t c = 0; c < table.header.size(); ++c) {
      if (c < table.labels || (c >= begin && c < end)) columns.push_back(c);
    }
    for (const std::size_t c : columns) {
      text.column(table.header[c], c == 0 ? Table::Align::left : Table::Align::right);
    }
    for (const std::vector<std::string>& row : table.rows) {
      std::vector<std::string> cells;
      for (const std::size_t c : columns) cells.push_back(row[c]);
      text.row(std::move(cells));
    }
    return text.text(width);
  };
  // What a column takes; the first one may be broken, but not within its words.
  std::vector<std::size_t> taken;
  for (std::size_t c = 0; c < table.header.size(); ++c) {
    const auto least = [&](const std::string& cell) {
      return c == 0 ? widest_word(cell) : display_width(cell);
    };
    taken.push_back(least(table.header[c]));
    for (const std::vector<std::string>& row : table.rows) taken[c] = std::max(taken[c], least(row[c]));
  }
  const auto fits = [&](std::size_t begin, std::size_t end) {
    std::size_t total = 0;
    for (std::size_t c = 0; c < end; ++c) {
      if (c < table.labels || c >= begin) total += taken[c] + (c == 0 ? 0 : 2);
    }
    return total <= width;
  };
  const std::size_t notes_width = width == 0 ? 100 : width;
  const auto paragraph = [&](const std::string& text) {
    std::string lines;
    for (const std::string& line : wrapped(text, notes_width)) lines += line + '\n';
    return lines;
  };
  std::string all = (width == 0 ? table.title + '\n' : paragraph(table.title)) + '\n';
  for (std::size_t begin = table.labels, end = begin; begin < table.header.size(); begin = end) {
    if (begin > table.labels) all += '\n';
    end = width == 0 ? table.header.size() : begin + 1;
    while (end < table.header.size() && fits(begin, end + 1)) ++end;
    all += set(begin, end);
  }
  for (const std::string& note : table.notes) all += paragraph(note);
  return all;
}

}  // namespace tapeline
