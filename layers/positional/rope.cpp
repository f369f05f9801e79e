#include "layers/positional/rope.h"

#include <cmath>

#include "core/error.h"
#include "layers/positional/angles.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

/// The rotated features of a head, an even whole number.
Index rotated_width(double fraction, Index head_width) {
  require<ConfigError>(fraction > 0 && fraction <= 1,
                       "positional.rope.fraction = {}; it must lie above 0 and not above 1", fraction);
  const double exact = fraction * static_cast<double>(head_width);
  const auto width = static_cast<Index>(std::llround(exact));
  require<ConfigError>(width >= 2 && width % 2 == 0 && std::abs(exact - static_cast<double>(width)) < 1e-6,
                       "positional.rope.fraction = {} of a head width of {} (model.width / model.heads) is "
                       "{} features; an even whole number is needed",
                       fraction, head_width, exact);
  return width;
}

}  // namespace

RotaryPositions::RotaryPositions(const Settings& settings)
    : PositionalEncoding(settings.head_width),
      settings_(settings),
      frequencies_(geometric_frequencies(settings.rotated_width / 2, settings.base,
                                         static_cast<double>(settings.rotated_width) / 2)) {
  require<ConfigError>(settings.base > 1 && std::isfinite(settings.base),
                       "positional.rope.base = {}; it must be above 1", settings.base);
}

Rotation RotaryPositions::rotation(Pass& pass, Role, const Positions& rows, const PassPositions&,
                                   Index) const {
  const Index pairs = settings_.rotated_width / 2;
  const auto tables = [&] {  // [2, rows, pairs]: cosines, then sines
    const Tensor both = pass.tape.allocate({2, rows.count, pairs});
    fill_angles(
        rows, frequencies_,
        {.sine = both.data + rows.count * pairs, .cosine = both.data, .stride = pairs, .cosines = pairs});
    return pass.tape.constant(both);
  };
  // One table for queries, keys and all layers.
  Real* made = pass.once(this, rows_slot(rows), tables).value().data;
  Rotation turn;
  turn.cosine = pass.tape.constant({{rows.count, pairs}, made});
  turn.sine = pass.tape.constant({{rows.count, pairs}, made + rows.count * pairs});
  turn.width = settings_.rotated_width;
  turn.pairing = settings_.pairing;
  return turn;
}

const EncodingKind& rope_kind() {
  static const EncodingKind kind{
      .name = "rope",
      .title = "rotary position embedding (RoPE)",
      .formula =
          "(x_a, x_b) -> (x_a cos(t f_p) - x_b sin(t f_p), x_b cos(t f_p) + x_a sin(t f_p)), "
          "f_p = base^(-2p/r)",
      .acts_on = "queries and keys, every layer",
      .parameters = "none",
      .beyond = "runs; quality falls (a scaling helps)",
      .paper =
          "Su, Lu, Pan, Murtadha, Wen, Liu 2021, \"RoFormer: Enhanced Transformer with Rotary Position "
          "Embedding\", arXiv:2104.09864",
      .options = {{.name = "base",
                   .initial = 10000.0,
                   .help = "the slowest pair turns once in about 2 pi base",
                   .after_training = true},
                  {.name = "pairing",
                   .initial = std::string("half"),
                   .help = "which features form a pair: (p, p + r/2) as in GPT-NeoX, or neighbours as in "
                           "the paper",
                   .choices = {"half", "interleaved"}},
                  {.name = "fraction", .initial = 1.0, .help = "share of every head that is rotated"}},
      .make = [](const OptionValues& options,
                 const EncodingContext& context) -> std::unique_ptr<PositionalEncoding> {
        return std::make_unique<RotaryPositions>(RotaryPositions::Settings{
            .head_width = context.head_width,
            .rotated_width = rotated_width(options.number("fraction"), context.head_width),
            .base = options.number("base"),
            .pairing = options.text("pairing") == "interleaved" ? Pairing::interleaved : Pairing::half});
      },
  };
  return kind;
}

}  // namespace tapeline::inline TAPELINE_PRECISION
