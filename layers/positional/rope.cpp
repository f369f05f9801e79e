#include "layers/positional/rope.h"

#include <cmath>

#include "core/error.h"
#include "layers/positional/angles.h"
#include "layers/positional/rope_scaling_options.h"
#include "layers/positional/rotated_width.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

std::vector<OptionField> options() {
  std::vector<OptionField> fields = {
      {.name = "base",
       .initial = 10000.0,
       .help = "the slowest pair turns once in about 2 pi base",
       .after_training = true},
      {.name = "pairing",
       .initial = std::string("half"),
       .help = "which features form a pair: (p, p + r/2) as in GPT-NeoX, or neighbours as in "
               "the paper",
       .choices = {"half", "interleaved"}},
      {.name = "fraction", .initial = 1.0, .help = "share of every head that is rotated"}};
  const std::vector<OptionField> scaling = rope_scaling_fields();
  fields.insert(fields.end(), scaling.begin(), scaling.end());
  return fields;
}

}  // namespace

RotaryPositions::RotaryPositions(const Settings& settings)
    : PositionalEncoding(settings.head_width),
      settings_(settings),
      by_length_(depends_on_length(settings.scaling)),
      unscaled_(static_cast<std::size_t>(settings.rotated_width / 2)) {
  require<ConfigError>(settings.base > 1 && std::isfinite(settings.base),
                       "positional.rope.base = {}; it must be above 1", settings.base);
  rotary_frequencies({}, settings.base, 0, unscaled_);
  if (!by_length_) scaled_ = frequencies(0);
}

CachedKeys RotaryPositions::cached_keys() const {
  return by_length_ ? CachedKeys::raw : CachedKeys::transformed;
}

std::vector<double> RotaryPositions::frequencies(Index length) const {
  std::vector<double> scaled(unscaled_.size());
  rotary_frequencies(settings_.scaling, settings_.base, length, scaled);
  return scaled;
}

Rotation RotaryPositions::rotation(Pass& pass, Role, const Positions& rows, const PassPositions& all,
                                   Index) const {
  const Index pairs = settings_.rotated_width / 2;
  const auto tables = [&] {  // [2, rows, pairs]: cosines, then sines
    const Index length = pass.context_length(all.query);
    std::span<const double> frequencies = scaled_;
    if (by_length_) {
      const std::span<double> made{pass.tape.arena().allocate_array<double>(unscaled_.size()),
                                   unscaled_.size()};
      rotary_frequencies(settings_.scaling, settings_.base, length, made);
      frequencies = made;
    }
    const Tensor both = pass.tape.allocate({2, rows.count, pairs});
    fill_angles(rows, frequencies,
                {.sine = both.data + rows.count * pairs,
                 .cosine = both.data,
                 .stride = pairs,
                 .cosines = pairs,
                 .factor = rotary_factor(settings_.scaling, length),
                 .first_positions = settings_.scaling.keep_first,
                 .of_first = unscaled_});
    return pass.tape.constant(both);
  };
  // One table for queries, keys and all layers.
  return rotation_by(pass.tape, pass.once(this, rows_slot(rows), tables).value(), settings_.pairing);
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
      .options = options(),
      .make = [](const OptionValues& options,
                 const EncodingContext& context) -> std::unique_ptr<PositionalEncoding> {
        const Index width = rotated_width("rope", options.number("fraction"), context.head_width);
        return std::make_unique<RotaryPositions>(RotaryPositions::Settings{
            .head_width = context.head_width,
            .rotated_width = width,
            .base = options.number("base"),
            .pairing = parse_pairing(options.text("pairing")),
            .scaling = read_rope_scaling(options, context.train_length, width / 2)});
      },
  };
  return kind;
}

}  // namespace tapeline::inline TAPELINE_PRECISION
