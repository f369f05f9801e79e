#include "layers/positional/cope.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "layers/init.h"
#include "layers/positional/number_text.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

constexpr Index most_rows = Index{1} << 16;

Index parse_rows(const std::string& text, Index train_length) {
  // Few rows are the point: a table as long as the text has rows that are hardly ever reached. A window of L
  // counts at most L.
  if (text == "auto") return std::min<Index>(64, train_length + 1);
  const double rows = number_of_text(text).value_or(0);
  require<ConfigError>(rows >= 2 && rows <= most_rows && rows == std::floor(rows),
                       "positional.cope.rows = {}; it takes auto, or a whole number from 2 to {}", text,
                       most_rows);
  return static_cast<Index>(rows);
}

}  // namespace

ContextualEncoding::ContextualEncoding(const EncodingContext& context, const Settings& settings)
    : PositionalEncoding(context.head_width),
      divide_(settings.divide),
      tables_(context, !settings.shared, [&](const Scope& scope) {
        return &scope.add("table", {.shape = {settings.rows, context.head_width}, .initializer = zeros()});
      }) {}

ScoreTerms ContextualEncoding::score_terms(Pass& pass, const PassPositions& all, Index layer) const {
  ScoreTerms terms = PositionalEncoding::score_terms(pass, all, layer);
  terms.term = ContextualPositions{.table = pass.tape.leaf(*tables_[layer]), .scaled = divide_};
  return terms;
}

const EncodingKind& cope_kind() {
  static const EncodingKind kind{
      .name = "cope",
      .title = "contextual position encoding (CoPE)",
      .formula =
          "score(i, j) = (q_i . k_j + q_i . e[p_ij]) / sqrt(d), p_ij = min(g_ij + ... + g_ii, rows - 1), "
          "g_it = sigmoid(q_i . k_t / sqrt(d))",
      .acts_on = "scores, every layer",
      .parameters = "rows x head width a layer, shared by the heads",
      .beyond = "runs; positions clip at rows - 1, however far the key",
      .paper =
          "Golovneva, Wang, Weston, Sukhbaatar 2024, \"Contextual Position Encoding: Learning to Count "
          "What's Important\", arXiv:2405.18719",
      .options = {{.name = "rows",
                   .initial = std::string("auto"),
                   .help = "rows of the table, one more than the largest position; auto: 64, or the trained "
                           "length + 1 where that is less",
                   .choices = {"auto"},
                   .number_too = true},
                  {.name = "divide",
                   .initial = true,
                   .help = "divide the product with the table by sqrt(d) like that with the keys"},
                  {.name = "shared", .initial = false, .help = "one table for all layers"}},
      .make = [](const OptionValues& options,
                 const EncodingContext& context) -> std::unique_ptr<PositionalEncoding> {
        require<ConfigError>(
            context.causal,
            "positional.kind = \"cope\" needs the causal mask: its positions are counted from "
            "the query backwards; choose another kind");
        return std::make_unique<ContextualEncoding>(
            context,
            ContextualEncoding::Settings{.rows = parse_rows(options.text("rows"), context.train_length),
                                         .divide = options.flag("divide"),
                                         .shared = options.flag("shared")});
      },
  };
  return kind;
}

}  // namespace tapeline::inline TAPELINE_PRECISION
