#include <fmt/format.h>

#include "experiments/report/early_tokens.h"
#include "experiments/report/html_parts.h"
#include "experiments/report/sections/section.h"

namespace tapeline {

Section early_token_section(const ReportData& data, FigureSheet& figures) {
  Section section{"early-tokens", "Early tokens", "Early-token effect", {}};
  const ReportTable pairs = sliding_table(data.comparison, data.all);
  if (pairs.rows.empty()) return section;
  section.body = html_paragraph(
      "In non-overlapping windows the first targets have almost no history. Longer windows have a smaller "
      "share of them, so the loss falls with length even where the longer context is of no use. Sliding "
      "windows give every target its history: what they gain with length is gained by longer context.");
  section.body += figures.add(
      early_token_figure(data.comparison, data.all),
      fmt::format(
          "Bits per byte over the same {} targets, in non-overlapping windows and in sliding ones (at "
          "each length the smallest stride that was run).",
          number_text(sliding_tokens(data.all))));
  const ReportTable effect = early_token_table(data.comparison, data.all);
  if (!effect.rows.empty()) section.body += html_table(effect, "early-token-effect");
  section.body +=
      html_folded("Both protocols side by side, by length and stride", html_table(pairs, "sliding"));
  return section;
}

}  // namespace tapeline
