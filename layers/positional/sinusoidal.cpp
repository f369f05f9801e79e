#include "layers/positional/sinusoidal.h"

#include <cmath>
#include <numbers>

#include "core/error.h"
#include "core/ops.h"
#include "layers/init.h"
#include "layers/positional/angles.h"
#include "layers/positional/number_text.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

SinusoidLayout parse_layout(std::string_view text) {
  if (text == "half") return SinusoidLayout::half;
  if (text == "t2t") return SinusoidLayout::t2t;
  return SinusoidLayout::interleaved;
}

double parse_factor(const std::string& text) {
  const double factor = number_or_word("positional.sinusoidal.scale", text).value_or(sinusoid_auto_factor());
  constexpr double most = 1e6;  // the sums of a float overflow long before its range ends
  require<ConfigError>(
      std::abs(factor) <= most,
      "positional.sinusoidal.scale = {}; it must lie between {} and {}, fresh token rows are "
      "about {:.2g}",
      text, -most, most, sinusoid_auto_factor());
  return factor;
}

std::vector<double> frequencies_of(const SinusoidalPositions::Settings& settings) {
  if (settings.layout != SinusoidLayout::t2t) {
    return geometric_frequencies((settings.width + 1) / 2, settings.base,
                                 static_cast<double>(settings.width) / 2);
  }
  const Index count = settings.width / 2;
  return geometric_frequencies(count, settings.base, count > 1 ? static_cast<double>(count - 1) : 1.0);
}

}  // namespace

double sinusoid_auto_factor() { return initial_deviation * std::numbers::sqrt2; }

SinusoidalPositions::SinusoidalPositions(const Settings& settings)
    : PositionalEncoding(settings.head_width), settings_(settings), frequencies_(frequencies_of(settings)) {
  require<ConfigError>(settings.base > 1 && std::isfinite(settings.base),
                       "positional.sinusoidal.base = {}; it must be above 1", settings.base);
}

void SinusoidalPositions::fill(const Positions& rows, const Tensor& table) const {
  const Index width = settings_.width;
  const Index count = static_cast<Index>(frequencies_.size());
  const bool interleaved = settings_.layout == SinusoidLayout::interleaved;
  AngleTables tables{.sine = table.data,
                     .cosine = interleaved ? table.data + 1 : table.data + count,
                     .stride = width,
                     .step = interleaved ? 2 : 1,
                     .cosines = width / 2,
                     .factor = settings_.factor};
  fill_angles(rows, frequencies_, tables);
  if (2 * count < width) {  // t2t of odd width
    for (Index row = 0; row < rows.count; ++row) table.data[row * width + width - 1] = 0;
  }
}

Var SinusoidalPositions::add_to_input(Pass& pass, Var x, const Positions& rows) const {
  const Tensor table = pass.tape.allocate({rows.count, settings_.width});
  fill(rows, table);
  return add(x, pass.tape.constant(table));  // [B, T, C] + [T, C]
}

const EncodingKind& sinusoidal_kind() {
  static const EncodingKind kind{
      .name = "sinusoidal",
      .title = "sinusoidal absolute positions",
      .formula = "y_t = x_t + s PE(t), PE(t)[2p] = sin(t base^(-2p/C)), PE(t)[2p+1] = cos(t base^(-2p/C))",
      .acts_on = "the input rows, once",
      .parameters = "none",
      .beyond = "runs; quality falls at once",
      .paper =
          "Vaswani, Shazeer, Parmar, Uszkoreit, Jones, Gomez, Kaiser, Polosukhin 2017, \"Attention Is "
          "All You Need\", arXiv:1706.03762",
      .options = {{.name = "layout",
                   .initial = std::string("interleaved"),
                   .help = "sines and cosines in turn, in two halves, or in two halves with "
                           "tensor2tensor's frequencies",
                   .choices = {"interleaved", "half", "t2t"}},
                  {.name = "base",
                   .initial = 10000.0,
                   .help = "the longest period is about 2 pi base",
                   .after_training = true},
                  {.name = "scale",
                   .initial = std::string("auto"),
                   .help = "factor on the sinusoids; auto: as large as fresh token rows (0.0283)",
                   .choices = {"auto"},
                   .number_too = true}},
      .make = [](const OptionValues& options,
                 const EncodingContext& context) -> std::unique_ptr<PositionalEncoding> {
        return std::make_unique<SinusoidalPositions>(
            SinusoidalPositions::Settings{.width = context.width,
                                          .head_width = context.head_width,
                                          .layout = parse_layout(options.text("layout")),
                                          .base = options.number("base"),
                                          .factor = parse_factor(options.text("scale"))});
      },
  };
  return kind;
}

}  // namespace tapeline::inline TAPELINE_PRECISION
