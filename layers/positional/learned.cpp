#include "layers/positional/learned.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/ops.h"
#include "layers/init.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

constexpr Index most_rows = Index{1} << 32;

BeyondTable parse_beyond(std::string_view text) {
  if (text == "clamp") return BeyondTable::clamp;
  if (text == "wrap") return BeyondTable::wrap;
  if (text == "interpolate") return BeyondTable::interpolate;
  return BeyondTable::refuse;
}

}  // namespace

LearnedPositions::LearnedPositions(const Scope& scope, const Settings& settings)
    : PositionalEncoding(settings.head_width), settings_(settings) {
  require<ConfigError>(settings.rows >= 1 && settings.rows <= most_rows,
                       "positional.learned.rows = {}; the table needs 1 to {} rows (0: train.length)",
                       settings.rows, most_rows);
  table_ = &scope.add("table", {.shape = {settings.rows, settings.width}, .initializer = normal()});
}

std::optional<Index> LearnedPositions::max_length() const {
  if (settings_.beyond == BeyondTable::refuse) return settings_.rows;
  return std::nullopt;
}

Var LearnedPositions::add_to_input(Pass& pass, Var x, const Positions& rows) const {
  const Var table = pass.tape.leaf(*table_);
  if (settings_.beyond == BeyondTable::interpolate) {
    const Index context = pass.context_length(rows);
    if (context > settings_.rows) return add(x, interpolated(pass, table, rows, context));
  }
  const std::span<Index> chosen = pass.indices(rows.count);
  for (Index row = 0; row < rows.count; ++row) {
    Index at = rows.at(row);
    if (settings_.beyond == BeyondTable::clamp) at = std::min(at, settings_.rows - 1);
    if (settings_.beyond == BeyondTable::wrap) at %= settings_.rows;
    require<ShapeError>(at >= 0 && at < settings_.rows,
                        "positions: the learned table has {} rows; row {} was asked for; use a shorter "
                        "window, or set positional.learned.beyond",
                        settings_.rows, at + 1);
    chosen[static_cast<std::size_t>(row)] = at;
  }
  return add(x, gather_rows(table, chosen));  // [B, T, C] + [T, C]
}

// Row t lies at c = t * rows / context of the table: (1 - w) E[floor c] + w E[floor c + 1], w = c - floor c.
Var LearnedPositions::interpolated(Pass& pass, Var table, const Positions& rows, Index context) const {
  const std::span<Index> below = pass.indices(rows.count);
  const std::span<Index> above = pass.indices(rows.count);
  const Tensor weight_below = pass.tape.allocate({rows.count, 1});
  const Tensor weight_above = pass.tape.allocate({rows.count, 1});
  const Index last = settings_.rows - 1;
  for (Index row = 0; row < rows.count; ++row) {
    const double at = static_cast<double>(rows.at(row)) * static_cast<double>(settings_.rows) /
                      static_cast<double>(context);
    const double floor = std::floor(at);
    const auto place = static_cast<std::size_t>(row);
    below[place] = std::clamp(static_cast<Index>(floor), Index{0}, last);
    above[place] = std::min(below[place] + 1, last);
    weight_above.data[row] = static_cast<Real>(at - floor);
    weight_below.data[row] = static_cast<Real>(1 - (at - floor));
  }
  return add(multiply(gather_rows(table, below), pass.tape.constant(weight_below)),
             multiply(gather_rows(table, above), pass.tape.constant(weight_above)));
}

const EncodingKind& learned_kind() {
  static const EncodingKind kind{
      .name = "learned",
      .title = "learned absolute positions",
      .formula = "y_t = x_t + E[t]",
      .acts_on = "the input rows, once",
      .parameters = "rows x width",
      .beyond = "refuses past its rows; clamp, wrap and interpolate on request",
      .paper =
          "Devlin, Chang, Lee, Toutanova 2018, \"BERT: Pre-training of Deep Bidirectional Transformers "
          "for Language Understanding\", arXiv:1810.04805; Radford, Wu, Child, Luan, Amodei, Sutskever "
          "2019, \"Language Models are Unsupervised Multitask Learners\" (GPT-2)",
      .options = {{.name = "rows",
                   .initial = Index{0},
                   .help = "rows of the table; 0: the trained length, randomized the maximum"},
                  {.name = "beyond",
                   .initial = std::string("refuse"),
                   .help = "what a position past the last row does: an error, the last row, position modulo "
                           "rows, or all positions squeezed into the table",
                   .choices = {"refuse", "clamp", "wrap", "interpolate"},
                   .after_training = true}},
      .make = [](const OptionValues& options,
                 const EncodingContext& context) -> std::unique_ptr<PositionalEncoding> {
        const Index rows = options.integer("rows");
        const BeyondTable beyond = parse_beyond(options.text("beyond"));
        const Index needed = context.trained_positions();
        require<ConfigError>(
            rows == 0 || rows >= needed || beyond != BeyondTable::refuse,
            "positional.learned.rows = {} and {} = {}; the table needs a row for every "
            "trained position, or another positional.learned.beyond than \"refuse\"",
            rows, context.randomized_maximum > 0 ? "positional.randomized.maximum" : "train.length", needed);
        return std::make_unique<LearnedPositions>(
            context.scope, LearnedPositions::Settings{.rows = rows == 0 ? needed : rows,
                                                      .width = context.width,
                                                      .head_width = context.head_width,
                                                      .beyond = beyond});
      },
  };
  return kind;
}

}  // namespace tapeline::inline TAPELINE_PRECISION
