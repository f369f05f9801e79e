#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/encodings/portrait.h"
#include "experiments/table.h"

namespace tapeline {
namespace {

/// One way of turning: as it is, or without a scaling.
struct Turning {
  std::string name;
  RotationView rotation;
  std::size_t colour;
};

std::string wave_text(double wavelength) {
  if (!std::isfinite(wavelength)) return "-";
  return wavelength < 1000 ? fmt::format("{:.4g}", wavelength) : fmt::format("{:.0f}", wavelength);
}

Index never_turning(const RotationView& rotation, double trained) {
  return std::ranges::count_if(rotation.wavelengths, [&](double wave) { return wave > trained; });
}

std::string never_text(const RotationView& rotation, Index trained) {
  const Index never = never_turning(rotation, static_cast<double>(trained));
  return fmt::format(
      "{} of {} pairs never turn whole within the trained length of {}: their larger angles are new past it",
      never, rotation.wavelengths.size(), trained);
}

std::string pair_table(const std::vector<Turning>& turnings, Index trained) {
  const bool both = turnings.size() > 1;
  Table table;
  table.column("pair");
  for (const Turning& turning : turnings) {
    table.column(both ? turning.name : "wavelength").column("turns in training");
  }
  if (both) table.column("stretched");
  const RotationView& first = turnings.front().rotation;
  for (const Index pair : spread_over(static_cast<Index>(first.wavelengths.size()), 24)) {
    const auto at = static_cast<std::size_t>(pair);
    std::vector<std::string> cells = {fmt::format("{}", pair)};
    for (const Turning& turning : turnings) {
      const double wave = turning.rotation.wavelengths[at];
      const double turns = static_cast<double>(trained) / wave;
      cells.push_back(wave_text(wave));
      cells.push_back(turns < 1 ? fmt::format("{:.3g} never", turns) : fmt::format("{:.3g}", turns));
    }
    if (both) {
      cells.push_back(fmt::format("{:.3g}×", first.wavelengths[at] / turnings[1].rotation.wavelengths[at]));
    }
    table.row(std::move(cells));
  }
  return table.text();
}

Chart wavelength_chart(const PortraitPart& part, const std::vector<Turning>& turnings) {
  const Index trained = part.view.plan().train_length;
  Chart chart{.name = part.name + "_wavelengths",
              .title = fmt::format("{}: wavelength of every pair of features", part.title),
              .x_label = "pair, the fastest first",
              .y_label = "positions to a whole turn",
              .log_y = true,
              .mark_y = static_cast<double>(trained),
              .mark_label = fmt::format("trained length {}", trained),
              .lines = {},
              .heat = {},
              .notes = {},
              .table = {}};
  for (const Turning& turning : turnings) {
    ChartLine whole{.name = turning.name, .x = {}, .y = {}, .colour = turning.colour};
    ChartLine turns{.name = {},
                    .x = {},
                    .y = {},
                    .colour = turning.colour,
                    .joined = false,
                    .symbol = ChartSymbol::filled};
    ChartLine never = turns;
    never.symbol = ChartSymbol::open;
    for (std::size_t pair = 0; pair < turning.rotation.wavelengths.size(); ++pair) {
      const double wave = turning.rotation.wavelengths[pair];
      for (ChartLine* line : {&whole, wave > static_cast<double>(trained) ? &never : &turns}) {
        line->x.push_back(static_cast<double>(pair));
        line->y.push_back(wave);
      }
    }
    chart.lines.push_back(std::move(whole));
    // gnuplot knows no plot of no points.
    for (ChartLine* line : {&turns, &never}) {
      if (!line->x.empty()) chart.lines.push_back(std::move(*line));
    }
    chart.notes.push_back(turnings.size() > 1
                              ? fmt::format("{}: {}.", turning.name, never_text(turning.rotation, trained))
                              : fmt::format("{}.", never_text(turning.rotation, trained)));
  }
  chart.x_label += "; open circles never turn whole in training";
  chart.table = pair_table(turnings, trained);
  return chart;
}

}  // namespace

std::vector<Chart> rotation_charts(const PortraitPart& part, const EncodingView* plain) {
  std::optional<RotationView> own = view_rotation(part.view, part.layer, part.length);
  if (!own || own->wavelengths.empty()) return {};
  const std::string own_name = plain != nullptr ? "scaled" : "rotation";
  std::vector<Turning> turnings = {{own_name, std::move(*own), 0}};
  if (plain != nullptr) {
    if (auto rotation = view_rotation(*plain, part.layer, part.length)) {
      turnings.push_back({"plain", std::move(*rotation), 1});
    }
  }
  const RotationView& rotation = turnings.front().rotation;
  std::vector<Chart> charts = {wavelength_chart(part, turnings)};
  if (std::abs(rotation.magnitude - 1) > 1e-6) {
    charts[0].notes.push_back(
        fmt::format("Cosines and sines are multiplied by {:.4g}, the turned part of a score by {:.4g}.",
                    rotation.magnitude, rotation.magnitude * rotation.magnitude));
  }
  const Index head_width = part.view.plan().model.head_width();
  if (rotation.width < head_width) {
    charts[0].notes.push_back(
        fmt::format("{} of the {} features of a head are turned.", rotation.width, head_width));
  }
  Chart decay{
      .name = part.name + "_decay",
      .title = fmt::format("{}: what is left of q . k for equal vectors, the mean of all pairs", part.title),
      .x_label = "distance of the key, i - j",
      .y_label = "mean over the pairs",
      .mark_label = {},
      .lines = {},
      .heat = {},
      .notes = {},
      .table = {}};
  for (const Turning& turning : turnings) {
    ChartLine line{.name = turning.name, .x = {}, .y = turning.rotation.decay, .colour = turning.colour};
    for (std::size_t distance = 0; distance < line.y.size(); ++distance) {
      line.x.push_back(static_cast<double>(distance));
    }
    decay.lines.push_back(std::move(line));
  }
  mark_trained_length(decay, part.view.plan().train_length, part.length);
  charts.push_back(std::move(decay));
  return charts;
}

}  // namespace tapeline
