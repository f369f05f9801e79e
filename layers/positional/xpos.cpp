#include "layers/positional/xpos.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/parallel.h"
#include "layers/positional/angles.h"
#include "layers/positional/distances.h"
#include "layers/positional/number_text.h"
#include "layers/positional/rotated_width.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

constexpr double gamma = 0.4;
/// z_0^-80 = 3e43: factors of z_0^-40 = 6e21 on each side leave room for the numbers that they multiply.
constexpr double most_spans = 80;
/// Away from a fixed centre: z_0^-70 = 1e38, the last that a float holds.
constexpr double most_from_center = 70;

/// The number that a text holds; nothing for `word`.
std::optional<double> number_in(const OptionValues& options, std::string_view name, std::string_view word) {
  return number_or_word(fmt::format("positional.xpos.{}", name), options.text(name), word);
}

}  // namespace

XposPositions::XposPositions(const Settings& settings)
    : PositionalEncoding(settings.head_width),
      settings_(settings),
      frequencies_(geometric_frequencies(settings.rotated_width / 2, settings.base,
                                         static_cast<double>(settings.rotated_width) / 2)) {
  require<ConfigError>(settings.base > 1 && std::isfinite(settings.base),
                       "positional.xpos.base = {}; it must be above 1", settings.base);
  require<ConfigError>(settings.scale_base > 0 && std::isfinite(settings.scale_base),
                       "positional.xpos.scale_base = {}; it must be above 0", settings.scale_base);
  const double width = static_cast<double>(settings.rotated_width);
  for (Index p = 0; p < settings.rotated_width / 2; ++p) {
    log_scales_.push_back(std::log((2 * static_cast<double>(p) / width + gamma) / (1 + gamma)));
  }
}

std::optional<Index> XposPositions::max_rows() const {
  if (settings_.center) return std::nullopt;
  return static_cast<Index>(std::clamp(most_spans * settings_.scale_base, 1.0, 1e15));
}

std::optional<Index> XposPositions::max_length() const {
  if (!settings_.center) return std::nullopt;
  const double reach = *settings_.center + most_from_center * settings_.scale_base;
  return static_cast<Index>(std::clamp(std::floor(reach) + 1, 0.0, 1e15));
}

double XposPositions::center_of(const Positions& queries) const {
  if (settings_.center) return *settings_.center;
  const PositionRange ends = range_of(queries);
  const double span = static_cast<double>(ends.highest - ends.lowest);
  const double most = most_spans * settings_.scale_base;
  require<ShapeError>(
      span < most,
      "xpos: the {} query rows of this pass span {} positions; with positional.xpos.scale_base "
      "{} their factors stay within a float for fewer than {}: run the text in chunks of that "
      "many rows over a key/value cache, or take a larger scale_base",
      queries.count, span + 1, settings_.scale_base, most);
  return static_cast<double>(ends.lowest) + span / 2;
}

// Factors grow for queries before the centre and for keys behind it.
void XposPositions::require_range(Role role, const Positions& rows, double center) const {
  if (!settings_.center) return;
  const PositionRange ends = range_of(rows);
  const double away = role == Role::query ? center - static_cast<double>(ends.lowest)
                                          : static_cast<double>(ends.highest) - center;
  require<ShapeError>(away <= most_from_center * settings_.scale_base,
                      "xpos: position {} is {} from positional.xpos.center {}; with scale_base {} factors "
                      "leave the range of a float past {}: take center = \"middle\"",
                      role == Role::query ? ends.lowest : ends.highest, away, center, settings_.scale_base,
                      most_from_center * settings_.scale_base);
}

Rotation XposPositions::rotation(Pass& pass, Role role, const Positions& rows, const PassPositions& all,
                                 Index) const {
  const Index pairs = settings_.rotated_width / 2;
  const auto tables = [&] {  // [2, rows, pairs]: cosines, then sines
    const double center = center_of(all.query);
    require_range(role, rows, center);
    const double sign = (role == Role::query ? 1 : -1) / settings_.scale_base;
    const Tensor both = pass.tape.allocate({2, rows.count, pairs});
    const Index grain = 4096 / (pairs + 1) + 1;  // rows worth a thread
    parallel_for(rows.count, grain, [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) {
        const double position = static_cast<double>(rows.at(row));
        const double exponent = sign * (position - center);
        Real* const cosine = both.data + row * pairs;
        Real* const sine = cosine + rows.count * pairs;
        for (Index p = 0; p < pairs; ++p) {
          const auto pair = static_cast<std::size_t>(p);
          const double angle = position * frequencies_[pair];
          const double factor = std::exp(exponent * log_scales_[pair]);
          cosine[p] = static_cast<Real>(factor * std::cos(angle));
          sine[p] = static_cast<Real>(factor * std::sin(angle));
        }
      }
    });
    return pass.tape.constant(both);
  };
  // One table for the queries of all layers, and one for the keys.
  const void* const owner = role == Role::query ? static_cast<const void*>(this) : &settings_;
  return rotation_by(pass.tape, pass.once(owner, rows_slot(rows), tables).value(), settings_.pairing);
}

const EncodingKind& xpos_kind() {
  static const EncodingKind kind{
      .name = "xpos",
      .title = "extrapolatable rotary positions (xPos)",
      .formula =
          "as rope; pair p of queries times z_p^((i-C)/B), of keys times z_p^(-(j-C)/B), "
          "z_p = (2p/r + 0.4) / 1.4",
      .acts_on = "queries and keys, every layer",
      .parameters = "none",
      .beyond = "runs; far keys fade",
      .paper =
          "Sun, Dong, Patra, Ma, Huang, Benhaim, Chaudhary, Song, Wei 2022, \"A Length-Extrapolatable "
          "Transformer\", arXiv:2212.10554",
      .options =
          {{.name = "base",
            .initial = 10000.0,
            .help = "the slowest pair turns once in about 2 pi base",
            .after_training = true},
           {.name = "pairing",
            .initial = std::string("interleaved"),
            .help = "which features form a pair: neighbours as in the paper, or (p, p + r/2)",
            .choices = {"half", "interleaved"}},
           {.name = "fraction", .initial = 1.0, .help = "share of every head that is rotated"},
           {.name = "scale_base",
            .initial = std::string("auto"),
            .help =
                "the distance at which pair p has decayed to z_p; auto: half the trained length, or of what "
                "randomized positions are drawn from",
            .choices = {"auto"},
            .number_too = true,
            .after_training = true},
           {.name = "center",
            .initial = std::string("middle"),
            .help = "where both factors are 1: the middle of the queries of a pass, or one position; scores "
                    "do not depend on it, only how far a float reaches",
            .choices = {"middle"},
            .number_too = true,
            .after_training = true}},
      .make = [](const OptionValues& options,
                 const EncodingContext& context) -> std::unique_ptr<PositionalEncoding> {
        require<ConfigError>(
            context.causal,
            "positional.kind = \"xpos\" without the causal mask: the score of a key after its "
            "query would grow without bound with the distance; take rope, or causal keys");
        const double trained = static_cast<double>(context.trained_positions());
        const XposPositions::Settings settings{
            .head_width = context.head_width,
            .rotated_width = rotated_width("xpos", options.number("fraction"), context.head_width),
            .base = options.number("base"),
            .pairing = parse_pairing(options.text("pairing")),
            .scale_base = number_in(options, "scale_base", "auto").value_or(trained / 2),
            .center = number_in(options, "center", "middle")};
        require<ConfigError>(
            settings.center || trained <= most_spans * settings.scale_base,
            "positional.xpos.scale_base = {} with positions 0 to {} in training: the factors of one window "
            "would leave the range of a float; at least {} is needed",
            settings.scale_base, trained - 1, trained / most_spans);
        require<ConfigError>(
            !settings.center || *settings.center <= most_from_center * settings.scale_base,
            "positional.xpos.center = {} with scale_base {}: the factors of position 0 leave the range of a "
            "float from a center of {} on; take center = \"middle\"",
            options.text("center"), settings.scale_base, most_from_center * settings.scale_base);
        auto made = std::make_unique<XposPositions>(settings);
        const std::optional<Index> most = made->max_length();
        require<ConfigError>(!most || context.trained_positions() <= *most,
                             "positional.xpos.center = {} with scale_base {}: factors leave the range of a "
                             "float from position {} on, and training has positions 0 to {}; take center = "
                             "\"middle\"",
                             options.text("center"), settings.scale_base, *most, trained - 1);
        return made;
      },
  };
  return kind;
}

}  // namespace tapeline::inline TAPELINE_PRECISION
