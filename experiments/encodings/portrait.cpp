#include "experiments/encodings/portrait.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tapeline {
namespace {

std::vector<double> counted_from(Index first, std::size_t count) {
  std::vector<double> numbers;
  for (std::size_t n = 0; n < count; ++n)
    numbers.push_back(static_cast<double>(first) + static_cast<double>(n));
  return numbers;
}

Chart line_chart(const PortraitPart& part, const std::string& suffix, const std::string& title,
                 const std::string& x_label, const std::string& y_label) {
  return {.name = part.name + suffix,
          .title = fmt::format("{}: {}", part.title, title),
          .x_label = x_label,
          .y_label = y_label,
          .mark_label = {},
          .lines = {},
          .heat = {},
          .notes = {},
          .table = {}};
}

constexpr Index heat_cells = 64;

Chart similarity_heat(const PortraitPart& part, const VectorTable& table, const std::string& suffix) {
  const std::string of_head = table.heads > 1 ? " (head 1)" : "";
  Chart chart = line_chart(part, suffix + "_similarity",
                           fmt::format("how alike the {} are{}", table.name, of_head), table.of, table.of);
  chart.heat.label = "cosine of the angle";
  const std::vector<Index> chosen = spread_over(table.count, heat_cells);
  for (const Index row : chosen) {
    chart.heat.rows.push_back(static_cast<double>(table.first + row));
    std::vector<double>& values = chart.heat.values.emplace_back();
    for (const Index other : chosen) values.push_back(table.similarity(0, row, other));
  }
  chart.heat.columns = chart.heat.rows;
  return chart;
}

/// The mean over pairs of rows that far apart.
Chart similarity_by_distance(const PortraitPart& part, const VectorTable& table, const std::string& suffix) {
  Chart chart =
      line_chart(part, suffix + "_by_distance", fmt::format("how alike the {} are, by distance", table.name),
                 "distance of the positions", "cosine of the angle");
  ChartLine mean{.name = "mean of all rows", .x = {}, .y = {}, .colour = 0};
  ChartLine first{.name = "from the first row", .x = {}, .y = {}, .colour = 1, .dashed = true};
  for (Index distance = 0; distance < table.count; ++distance) {
    double sum = 0, pairs = 0;
    for (const Index row : spread_over(table.count - distance, heat_cells)) {
      const double alike = table.similarity(0, row, row + distance);
      if (std::isfinite(alike)) sum += alike, pairs += 1;
    }
    mean.y.push_back(pairs > 0 ? sum / pairs : std::numeric_limits<double>::quiet_NaN());
    first.y.push_back(table.similarity(0, 0, distance));
  }
  mean.x = first.x = counted_from(0, mean.y.size());
  chart.lines = {std::move(mean), std::move(first)};
  mark_trained_length(chart, part.view.plan().train_length, table.count);
  return chart;
}

Chart scale_chart(const PortraitPart& part, const std::vector<std::vector<double>>& factors) {
  Chart chart =
      line_chart(part, "_scale", "the factor on q . k", "row of the query, counted from 1", "factor");
  chart.log_x = true;
  const bool alike = std::ranges::all_of(factors, [&](const auto& other) { return other == factors[0]; });
  for (const Index set : spread_over(alike ? 1 : static_cast<Index>(factors.size()), 8)) {
    const std::vector<double>& factor = factors[static_cast<std::size_t>(set)];
    chart.lines.push_back({.name = alike ? "all heads" : fmt::format("head {}", set + 1),
                           .x = counted_from(1, factor.size()),
                           .y = factor,
                           .colour = static_cast<std::size_t>(set)});
  }
  mark_trained_length(chart, part.view.plan().train_length, part.length);
  return chart;
}

Chart mask_chart(const PortraitPart& part) {
  Chart chart = line_chart(part, "_keys", "which keys a row sees", "key", "query");
  const KeyMask& mask = part.view.plan().positional.keys;
  const std::vector<Index> chosen = spread_over(part.length, heat_cells);
  for (const Index query : chosen) {
    chart.heat.rows.push_back(static_cast<double>(query));
    std::vector<double>& values = chart.heat.values.emplace_back();
    for (const Index key : chosen) {
      const Index distance = query - key;
      const bool near = mask.window == 0 || distance < mask.window || key < mask.sinks;
      values.push_back((distance >= 0 || !mask.causal) && near ? 1 : 0);
    }
  }
  chart.heat.columns = chart.heat.rows;
  return chart;
}

Chart positions_chart(const PortraitPart& part) {
  const Index rows = part.view.plan().train_length;
  Chart chart = line_chart(part, "_positions", "the positions of a window's rows", "row", "position");
  for (Index draw = 1; draw <= 3; ++draw) {
    ChartLine line{.name = fmt::format("in training, draw {}", draw),
                   .x = {},
                   .y = {},
                   .colour = static_cast<std::size_t>(draw)};
    for (const Index position : view_positions(part.view, rows, draw)) {
      line.y.push_back(static_cast<double>(position));
    }
    line.x = counted_from(0, line.y.size());
    chart.lines.push_back(std::move(line));
  }
  if (part.view.plan().positional.randomized.evaluation == "arange") {
    const std::vector<double> counted = counted_from(0, static_cast<std::size_t>(rows));
    chart.lines.push_back({.name = "in evaluation", .x = counted, .y = counted, .colour = 0, .dashed = true});
  }
  return chart;
}

/// What one layer's encoding gives away by itself.
std::vector<Chart> encoding_charts(const PortraitPart& part, const EncodingView* plain) {
  std::vector<Chart> charts;
  const auto add = [&](std::vector<Chart> more) { std::ranges::move(more, std::back_inserter(charts)); };
  if (const auto rows = view_input(part.view, part.layer, part.length)) add(vector_charts(part, *rows, ""));
  add(rotation_charts(part, plain));
  add(bias_charts(part));
  const std::vector<VectorTable> tables = view_vectors(part.view, part.layer, part.length);
  for (std::size_t n = 0; n < tables.size(); ++n) {
    add(vector_charts(part, tables[n],
                      tables.size() == 1 ? "_vectors"
                      : n == 0           ? "_query_vectors"
                                         : "_key_vectors"));
  }
  return charts;
}

}  // namespace

std::vector<Chart> vector_charts(const PortraitPart& part, const VectorTable& table,
                                 const std::string& suffix) {
  Chart norms =
      line_chart(part, suffix + "_norms", fmt::format("length of the {}", table.name), table.of, "norm");
  double least = std::numeric_limits<double>::infinity(), most = 0;
  std::size_t colour = 0;
  for (const Index head : spread_over(table.heads, 8)) {
    ChartLine line{.name = table.heads == 1 ? "all heads" : fmt::format("head {}", head + 1),
                   .x = counted_from(table.first, static_cast<std::size_t>(table.count)),
                   .y = {},
                   .colour = colour++};
    for (Index row = 0; row < table.count; ++row) {
      line.y.push_back(table.norm(head, row));
      least = std::min(least, line.y.back());
      most = std::max(most, line.y.back());
    }
    norms.lines.push_back(std::move(line));
  }
  if (table.of == "position") norms.lines.front().name = "norm";
  if (table.of != "counted position") {
    mark_trained_length(norms, part.view.plan().train_length, table.count);
  }
  if (most == 0) {
    norms.notes.push_back(fmt::format(
        "All of them are 0{}.",
        part.view.trained() ? "" : " before training; --checkpoint FILE draws a trained model's"));
    return {std::move(norms)};
  }
  std::vector<Chart> charts;
  if (table.of == "position") charts.push_back(similarity_by_distance(part, table, suffix));
  charts.push_back(similarity_heat(part, table, suffix));
  if (most - least > 1e-4 * most) {
    charts.push_back(std::move(norms));
  } else {
    charts.front().notes.push_back(fmt::format("All of them have the norm {:.4g}.", most));
  }
  return charts;
}

void mark_trained_length(Chart& chart, Index trained, Index length) {
  if (length <= trained) return;
  chart.mark_x = static_cast<double>(trained);
  chart.mark_label = fmt::format("trained length {}", trained);
}

std::vector<Index> spread_over(Index count, Index most) {
  std::vector<Index> chosen;
  const Index number = std::min(count, most);
  for (Index n = 0; n < number; ++n) chosen.push_back(number < 2 ? 0 : n * (count - 1) / (number - 1));
  return chosen;
}

std::vector<Chart> portrait(const EncodingView& view, const EncodingView* plain,
                            const PortraitRequest& request) {
  const PositionalConfig& config = view.plan().positional;
  const auto drawn = [&](const std::string& kind) {
    return request.only_kind.empty() || kind == request.only_kind;
  };
  std::vector<Index> layers;
  std::vector<std::string> seen;
  for (Index layer = 0; layer < view.plan().model.layers; ++layer) {
    const std::string& kind = config.kind_of_layer(layer);
    if (request.layer ? *request.layer != layer : !drawn(kind) || std::ranges::count(seen, kind) > 0)
      continue;
    layers.push_back(layer);
    seen.push_back(kind);
  }
  std::vector<Chart> charts;
  for (const Index layer : layers) {
    if (request.around_only && !charts.empty()) break;  // it is the same in all that have it
    const std::string& kind = config.kind_of_layer(layer);
    const bool several = layers.size() > 1;
    std::string title = several ? fmt::format("{}, {}", request.name, kind) : request.name;
    const std::string which =
        request.layer || several || view.trained() ? fmt::format("layer {}", layer + 1) : "";
    if (view.trained()) {
      title += fmt::format(" (trained, {})", which);
    } else if (!which.empty()) {
      title += fmt::format(" ({})", which);
    }
    const PortraitPart part{.view = view,
                            .name = several ? fmt::format("{}_{}", request.name, kind) : request.name,
                            .title = title,
                            .layer = layer,
                            .length = request.length};
    std::vector<Chart> own;
    if (!request.around_only) own = encoding_charts(part, kind == "rope" ? plain : nullptr);
    const auto factors = view_score_scale(view, layer, request.length);
    if (!factors.empty()) own.insert(own.begin(), scale_chart(part, factors));
    if (config.randomized.maximum > 0) own.insert(own.begin(), positions_chart(part));
    if ((own.empty() && !request.around_only) || config.keys.window > 0)
      own.insert(own.begin(), mask_chart(part));
    std::ranges::move(own, std::back_inserter(charts));
  }
  return charts;
}

}  // namespace tapeline
