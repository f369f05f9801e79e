#include "experiments/inspect/tensor_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "experiments/inspect/dataset_reading.h"
#include "experiments/inspect/drawing.h"
#include "experiments/inspect/inspection_json.h"
#include "experiments/inspect/slice.h"
#include "experiments/inspect/tree_text.h"
#include "experiments/report/tables.h"
#include "experiments/table.h"

namespace tapeline {
namespace {

constexpr Index most_shown = 1'000'000;

Slab chosen(const TensorView& view) {
  const std::vector<Index>& extents = view.dataset.shape.extents;
  if (!view.slice.empty()) {
    const Slab slab = parse_slice(view.slice, extents, view.dataset.name);
    require<ConfigError>(slab.size() <= most_shown,
                         "--slice {}: {} values of \"{}\" are selected, at most {} are shown; select fewer",
                         view.slice, slab.size(), view.dataset.name, most_shown);
    return slab;
  }
  // A corner: of matrices 8 by 8, of rows 32, the first of everything in front.
  Slab slab = Slab::whole(extents);
  const std::size_t rank = extents.size();
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const Index most = rank == 1 ? 32 : axis + 2 >= rank ? 8 : 1;
    slab.axes[axis].count = std::min(slab.axes[axis].count, most);
  }
  return slab;
}

/// Letters a terminal would obey are not sent to it.
std::string printable(const std::string& text) {
  std::string shown = text;
  for (char& c : shown) {
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7F) c = ' ';
  }
  return shown;
}

/// "3, 0, " and so on: the indices of row number `row` in all axes but the last.
std::string row_label(const Slab& slab, Index row) {
  std::vector<std::string> indices;
  for (std::size_t axis = slab.axes.size() - 1; axis-- > 0;) {
    const SlabAxis& along = slab.axes[axis];
    indices.insert(indices.begin(), fmt::format("{}", along.begin + row % along.count * along.step));
    row /= along.count;
  }
  return fmt::format("{}", fmt::join(indices, ", "));
}

/// Rows of values with their indices; where the width does not hold a row, its columns in several tables.
std::string values_text(const TensorView& view, const Slab& slab, std::size_t width) {
  if (slab.size() == 0) return "  none\n";
  const std::vector<std::string> values = read_texts(view.file, view.dataset.path, slab);
  if (slab.axes.empty()) return fmt::format("  {}\n", values.front());
  const SlabAxis& last = slab.axes.back();
  const Index rows = slab.size() / last.count;
  std::size_t widest = 0;
  for (const std::string& value : values) widest = std::max(widest, value.size());
  const std::size_t room = (width == 0 ? 110 : std::max<std::size_t>(width, 40)) - 4;
  const std::size_t margin = row_label(slab, rows - 1).size();
  const auto together =
      std::max<Index>(1, static_cast<Index>((room - std::min(margin, room)) / (widest + 2)));
  std::string text;
  for (Index first = 0; first < last.count; first += together) {
    const Index end = std::min(first + together, last.count);
    if (first > 0) text += '\n';
    Table table;
    table.column("");
    for (Index column = first; column < end; ++column)
      table.column(fmt::format("{}", last.begin + column * last.step));
    for (Index row = 0; row < rows; ++row) {
      std::vector<std::string> cells = {row_label(slab, row)};
      for (Index column = first; column < end; ++column)
        cells.push_back(values[static_cast<std::size_t>(row * last.count + column)]);
      table.row(std::move(cells));
    }
    text += table.text();
  }
  return text;
}

std::string statistics_text(const Statistics& found) {
  const auto full = [](double value) {
    return std::isnan(value) ? std::string("–") : fmt::format("{:.9g}", value);
  };
  std::string text;
  const auto line = [&text](std::string_view label, const std::string& value) {
    text += fmt::format("  {:<13}{}\n", label, value);
  };
  line("mean", full(found.mean));
  line("sd", full(found.sd));
  line("min, max", fmt::format("{}, {}", full(found.min), full(found.max)));
  line("norm", full(found.norm));
  line("zeros", number_text(found.zero));
  line("NaN, Inf", fmt::format("{}, {}", number_text(found.nan), number_text(found.infinite)));
  return text;
}

std::string histogram_text(const Histogram& histogram) {
  if (histogram.counts.empty()) return "  no finite values\n";
  const Index largest = std::max<Index>(1, std::ranges::max(histogram.counts));
  Table table;
  table.column("from").column("to").column("count").column("", Table::Align::left);
  for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
    std::string bar;
    const Index length = (30 * histogram.counts[i] + largest - 1) / largest;
    for (Index j = 0; j < length; ++j) bar += "█";
    table.row({fmt::format("{:.6g}", histogram.edges[i]), fmt::format("{:.6g}", histogram.edges[i + 1]),
               number_text(histogram.counts[i]), bar});
  }
  return table.text();
}

}  // namespace

std::string tensor_text(const TensorView& view, std::size_t width) {
  const ListedDataset& dataset = view.dataset;
  require<FileError>(dataset.trouble.empty(), "{}", dataset.trouble);
  if (dataset.shape.text) {
    require<ConfigError>(view.slice.empty(), "--slice: \"{}\" holds text; numbers can be sliced",
                         dataset.name);
    std::string text;
    for (const std::string& value : view.file.texts(dataset.path)) {
      text += printable(value);
      if (!text.ends_with('\n')) text += '\n';
    }
    return text;
  }
  const Slab slab = chosen(view);
  std::string text =
      fmt::format("{}\n  {:<13}{} {}, {} values, {}\n", dataset.path, "shape", shape_text(dataset.shape),
                  type_text(dataset.shape), number_text(dataset.shape.count()), size_text(dataset.bytes()));
  for (const auto& [name, value] : dataset.attributes)
    text += fmt::format("  {:<13}{}\n", name, printable(attribute_text(value)));
  text += statistics_text(*dataset.statistics);
  text += fmt::format(
      "\nValues {}{}\n", slab.text(),
      slab.size() < dataset.shape.count() && view.slice.empty() ? " (others: --slice 0:4,10:20)" : "");
  text += values_text(view, slab, width);
  text += fmt::format("\nHistogram\n{}", histogram_text(dataset.statistics->histogram));
  return text;
}

nlohmann::ordered_json tensor_json(const TensorView& view) {
  nlohmann::ordered_json json = dataset_json(view.dataset);
  if (view.dataset.shape.text && view.dataset.trouble.empty())
    json["texts"] = view.file.texts(view.dataset.path);
  if (view.slice.empty() || !view.dataset.is_tensor()) return json;
  const Slab slab = chosen(view);
  nlohmann::ordered_json slice = nlohmann::ordered_json::array();
  for (const SlabAxis& axis : slab.axes)
    slice.push_back({{"begin", axis.begin}, {"count", axis.count}, {"step", axis.step}});
  json["slice"] = std::move(slice);
  json["values"] = with_number_type(view.dataset.shape.type, [&]<class T>(T) -> nlohmann::ordered_json {
    std::vector<T> values(static_cast<std::size_t>(slab.size()));
    view.file.read_part(view.dataset.path, slab, std::span<T>(values));
    return values;
  });
  return json;
}

}  // namespace tapeline
