#include "experiments/inspect/tree_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>

#include "experiments/inspect/drawing.h"
#include "experiments/report/tables.h"
#include "experiments/table.h"

namespace tapeline {
namespace {

/// One line of the table: a dataset, or a group with what is in it.
struct Line {
  std::string label;
  const ListedDataset* dataset = nullptr;
  Index numbers = 0, bytes = 0;
};

struct Node {
  std::string name;
  const ListedDataset* dataset = nullptr;
  std::vector<std::unique_ptr<Node>> children;

  Node& child(const std::string& wanted) {
    for (const auto& one : children) {
      if (one->name == wanted && one->dataset == nullptr) return *one;
    }
    children.push_back(std::make_unique<Node>());
    children.back()->name = wanted;
    return *children.back();
  }
  bool is_leaf() const { return dataset != nullptr; }
  /// A group of datasets only is not worth a line of its own.
  bool is_flat() const {
    return std::ranges::all_of(children, [](const auto& one) { return one->is_leaf(); });
  }
};

std::string name_with_ties(const std::string& name, const ListedDataset& dataset) {
  const std::string tied = dataset.label("tied_to");
  return tied.empty() ? name : fmt::format("{} (also {})", name, tied);
}

void add_lines(const Node& node, const std::string& prefix, std::size_t depth, std::vector<Line>& lines,
               Line& sums) {
  for (const auto& child : node.children) {
    const std::string name = prefix + child->name;
    if (child->is_leaf()) {
      const ListedDataset& dataset = *child->dataset;
      lines.push_back({std::string(2 * depth, ' ') + name_with_ties(name, dataset), &dataset, 0, 0});
      if (dataset.is_tensor()) sums.numbers += dataset.shape.count();
      sums.bytes += dataset.bytes();
      continue;
    }
    if (child->is_flat() || child->children.size() == 1) {
      add_lines(*child, name + "/", depth, lines, sums);
      continue;
    }
    const std::size_t place = lines.size();
    lines.push_back({std::string(2 * depth, ' ') + name, nullptr, 0, 0});
    Line inner;
    add_lines(*child, "", depth + 1, lines, inner);
    lines[place].numbers = inner.numbers;
    lines[place].bytes = inner.bytes;
    sums.numbers += inner.numbers;
    sums.bytes += inner.bytes;
  }
}

std::vector<Line> tree_lines(const std::vector<ListedDataset*>& datasets) {
  Node root;
  for (const ListedDataset* dataset : datasets) {
    Node* at = &root;
    std::string_view rest = dataset->name;
    if (rest.starts_with('/')) rest.remove_prefix(1);
    for (std::size_t slash = rest.find('/'); slash != rest.npos; slash = rest.find('/')) {
      at = &at->child(std::string(rest.substr(0, slash)));
      rest.remove_prefix(slash + 1);
    }
    at->children.push_back(std::make_unique<Node>());
    at->children.back()->name = rest;
    at->children.back()->dataset = dataset;
  }
  std::vector<Line> lines;
  Line sums;
  add_lines(root, "", 0, lines, sums);
  return lines;
}

using Cell = std::function<std::string(const Line&)>;
struct Column {
  std::string header;
  Table::Align align;
  int rank;  ///< where there is no room, those of the highest rank go first; 0 stays
  Cell cell;
};

Cell number_cell(double Statistics::*member) {
  return [member](const Line& line) -> std::string {
    if (line.dataset == nullptr || !line.dataset->statistics) return "";
    return short_value((*line.dataset->statistics).*member);
  };
}

Cell count_cell(Index Statistics::*member) {
  return [member](const Line& line) -> std::string {
    if (line.dataset == nullptr || !line.dataset->statistics) return "";
    const Index count = (*line.dataset->statistics).*member;
    return count == 0 ? "" : number_text(count);
  };
}

std::string shape_cell(const Line& line) {
  if (line.dataset == nullptr) return fmt::format("Σ {}", number_text(line.numbers));
  if (!line.dataset->trouble.empty()) return "cannot be read";
  return shape_text(line.dataset->shape);
}

std::string type_cell(const Line& line) {
  return line.dataset == nullptr || !line.dataset->trouble.empty() ? "" : type_text(line.dataset->shape);
}

std::string size_cell(const Line& line) {
  if (line.dataset != nullptr && !line.dataset->is_tensor()) return "";
  return size_text(line.dataset == nullptr ? line.bytes : line.dataset->bytes());
}

std::string histogram_cell(const Line& line) {
  if (line.dataset == nullptr || !line.dataset->statistics) return "";
  const Histogram& histogram = line.dataset->statistics->histogram;
  if (histogram.counts.size() == 1 && line.dataset->shape.count() > 1) return "constant";
  return histogram.counts.size() < 2 ? "" : sparkline(histogram.counts, 10);
}

std::vector<Column> columns_for(const std::vector<Line>& lines) {
  const auto any = [&lines](Index Statistics::*member) {
    return std::ranges::any_of(lines, [member](const Line& line) {
      return line.dataset != nullptr && line.dataset->statistics && (*line.dataset->statistics).*member > 0;
    });
  };
  constexpr Table::Align left = Table::Align::left, right = Table::Align::right;
  std::vector<Column> columns = {{"tensor", left, 0, [](const Line& line) { return line.label; }},
                                 {"shape", right, 0, shape_cell},
                                 {"type", left, 8, type_cell},
                                 {"size", right, 7, size_cell},
                                 {"mean", right, 2, number_cell(&Statistics::mean)},
                                 {"sd", right, 1, number_cell(&Statistics::sd)},
                                 {"min", right, 4, number_cell(&Statistics::min)},
                                 {"max", right, 4, number_cell(&Statistics::max)},
                                 {"norm", right, 6, number_cell(&Statistics::norm)}};
  if (any(&Statistics::zero)) columns.push_back({"zeros", right, 5, count_cell(&Statistics::zero)});
  if (any(&Statistics::nan)) columns.push_back({"NaN", right, 0, count_cell(&Statistics::nan)});
  if (any(&Statistics::infinite)) columns.push_back({"Inf", right, 0, count_cell(&Statistics::infinite)});
  columns.push_back({"histogram", left, 3, histogram_cell});
  return columns;
}

std::size_t width_of(const std::string& text) {
  std::size_t widest = 0;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    widest = std::max(widest, display_width(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return widest;
}

std::string render(const std::vector<Column>& columns, const std::vector<Line>& lines, std::size_t width) {
  Table table;
  for (const Column& column : columns) table.column(column.header, column.align);
  for (const Line& line : lines) {
    std::vector<std::string> cells;
    for (const Column& column : columns) cells.push_back(column.cell(line));
    table.row(std::move(cells));
  }
  return table.text(width);
}

double sort_value(const ListedDataset& dataset, const std::string& key) {
  constexpr double none = -std::numeric_limits<double>::infinity();
  if (key == "size") return static_cast<double>(dataset.bytes());
  if (!dataset.statistics) return none;
  const Statistics& found = *dataset.statistics;
  const double value = key == "mean"    ? found.mean
                       : key == "sd"    ? found.sd
                       : key == "min"   ? found.min
                       : key == "max"   ? found.max
                       : key == "zeros" ? static_cast<double>(found.zero)
                       : key == "bad"   ? static_cast<double>(found.nan + found.infinite)
                                        : found.norm;
  return std::isnan(value) ? none : value;
}

}  // namespace

const std::vector<std::string>& sort_keys() {
  static const std::vector<std::string> keys = {"file", "name", "size", "norm",  "mean",
                                                "sd",   "min",  "max",  "zeros", "bad"};
  return keys;
}

void sort_datasets(std::vector<ListedDataset*>& datasets, const std::string& key) {
  if (key == "file") return;
  std::ranges::stable_sort(datasets, [&key](const ListedDataset* a, const ListedDataset* b) {
    return key == "name" ? a->name < b->name : sort_value(*a, key) > sort_value(*b, key);
  });
}

std::string shape_text(const DatasetShape& shape) {
  return shape.extents.empty() ? "scalar" : fmt::format("[{}]", fmt::join(shape.extents, ", "));
}

std::string type_text(const DatasetShape& shape) {
  return shape.text ? "text" : std::string(number_type_name(shape.type));
}

std::string tree_text(const std::vector<ListedDataset*>& datasets, bool flat, std::size_t width) {
  std::vector<Line> lines;
  if (flat) {
    for (const ListedDataset* dataset : datasets)
      lines.push_back({name_with_ties(dataset->name, *dataset), dataset, 0, 0});
  } else {
    lines = tree_lines(datasets);
  }
  std::vector<Column> columns = columns_for(lines);
  for (int rank = 8; rank > 0 && width != 0; --rank) {
    if (width_of(render(columns, lines, 0)) <= width) break;
    std::erase_if(columns, [rank](const Column& column) { return column.rank == rank; });
  }
  return render(columns, lines, width);
}

}  // namespace tapeline
