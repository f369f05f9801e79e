#include "experiments/claims/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/ops.h"
#include "experiments/claims/made_up.h"
#include "experiments/claims/subjects.h"

namespace tapeline {
namespace {

std::vector<Token> equal_tokens(Index count) {
  std::vector<Token> tokens(static_cast<std::size_t>(count));
  for (std::size_t row = 0; row < tokens.size(); ++row) tokens[row] = static_cast<Token>(row % 7);
  return tokens;
}

/// What a model of the plan says to that many rows; empty: it runs.
std::string refusal_of(const ModelPlan& plan, Index rows) {
  try {
    hidden_rows(Transformer(plan), equal_tokens(rows));
  } catch (const ShapeError& error) {
    return error.what();
  }
  return {};
}

ModelPlan learned_plan(const std::string& beyond) {
  return with_kind_option(claim_plan("learned", 32, 2, 16), "beyond", beyond);
}

std::string change_text(const ModelPlan& plan, double change) {
  return fmt::format("{} {:.2g}", plan.positional.kind, change);
}

}  // namespace

ClaimFinding longer_window_is_refused(const ModelPlan& plan, const std::vector<ModelPlan>& others) {
  const Index rows = plan.train_length + 1;
  const std::string refused = refusal_of(plan, rows);
  std::vector<std::string> running;
  for (const ModelPlan& other : others) {
    if (!refusal_of(other, rows).empty()) continue;
    running.push_back(other.positional.options.at(other.positional.kind).text("beyond"));
  }
  return {refused.empty() ? ClaimVerdict::is_false : ClaimVerdict::is_true,
          fmt::format("trained at {}, {} rows: {}; positional.learned.beyond = {} let it run, on request",
                      plan.train_length, rows,
                      refused.empty() ? std::string("they run") : fmt::format("\"{}\"", refused),
                      fmt::join(running, ", "))};
}

ClaimFinding far_rows_stay_untrained(const ModelPlan& plan) {
  Transformer model(plan);
  model.parameters().zero_gradients();
  Arena arena;
  GradientPool pool;
  Tape tape(arena, pool, Recording::on);
  Pass pass(tape);
  const std::vector<Token> ids = equal_tokens(plan.train_length);
  tape.backward(model.loss(pass, ids, ids, 1));
  const Tensor gradient = model.parameters().find("positional/learned/table")->grad();
  double within = 0, past = 0;
  for (Index at = 0; at < gradient.size(); ++at) {
    double& largest = at / gradient.shape[1] < plan.train_length ? within : past;
    largest = std::max(largest, std::abs(static_cast<double>(gradient.data[at])));
  }
  return {past == 0 && within > 0 ? ClaimVerdict::is_true : ClaimVerdict::is_false,
          fmt::format(
              "a table of {} rows, windows of {}: the largest gradient is {:.2g} in the first {} rows and "
              "{:g} in the rest",
              gradient.shape[0], plan.train_length, within, plan.train_length, past)};
}

double change_by_shift(const ModelPlan& plan) {
  const Transformer model = stirred_model(plan);
  const std::vector<Token> ids = equal_tokens(32);
  const std::vector<double> here = hidden_rows(model, ids);
  return largest_difference(here, hidden_rows(model, ids, 1000)) / root_mean_square(here);
}

ClaimFinding only_absolute_positions_shift(const std::vector<ModelPlan>& relative,
                                           const std::vector<ModelPlan>& absolute) {
  bool holds = true;
  std::vector<std::string> kept, moved;
  for (const ModelPlan& plan : relative) {
    const double change = change_by_shift(plan);
    holds = holds && change <= 1e-3;
    kept.push_back(change_text(plan, change));
  }
  for (const ModelPlan& plan : absolute) {
    const double change = change_by_shift(plan);
    holds = holds && change > 1e-3;
    moved.push_back(change_text(plan, change));
  }
  return {holds ? ClaimVerdict::is_true : ClaimVerdict::is_false,
          fmt::format("all positions moved on by 1000, outputs change by, in units of their rms: {}; {}",
                      fmt::join(kept, ", "), fmt::join(moved, ", "))};
}

std::vector<Claim> table_claims() {
  return {
      {.id = "learned-limit",
       .statement = "Learned positions cannot go past the rows of their table",
       .source =
           "Devlin et al. 2018 (BERT), arXiv:1810.04805; Press et al. 2022, arXiv:2108.12409, section 1",
       .computed =
           "A model trained at 16 is given 17 rows, as it is and with each of its other policies. True if it "
           "refuses as it is.",
       .kinds = {"learned"},
       .compute =
           [] {
             return longer_window_is_refused(
                 learned_plan("refuse"),
                 {learned_plan("clamp"), learned_plan("wrap"), learned_plan("interpolate")});
           }},
      {.id = "learned-spare-rows",
       .statement = "Spare rows of a learned table are never trained by shorter windows",
       .source = "circulating: longer tables as a way to longer inputs",
       .computed =
           "One backward pass over a window of 16 with a table of 32 rows. True if the gradient of the last "
           "16 rows is exactly 0.",
       .kinds = {"learned"},
       .compute =
           [] {
             return far_rows_stay_untrained(
                 with_kind_option(claim_plan("learned", 32, 2, 16), "rows", Index{32}));
           }},
      {.id = "shift-identity",
       .statement = "Relative positions do not care where in a text a window begins, absolute ones do",
       .source = "Shaw et al. 2018, arXiv:1803.02155; Raffel et al. 2020, arXiv:1910.10683",
       .computed = "Models with random weights on 32 tokens at positions 0 … 31 and at 1000 … 1031. True if "
                   "the output of RoPE, ALiBi and T5 stays within 1e-3 of its root mean square and that of "
                   "sinusoids does not.",
       .kinds = {"rope", "alibi", "t5", "sinusoidal"},
       .compute =
           [] {
             return only_absolute_positions_shift(
                 {claim_plan("rope", 32), claim_plan("alibi", 32), claim_plan("t5", 32)},
                 {with_kind_option(claim_plan("sinusoidal", 32), "scale", std::string("1"))});
           }},
  };
}

}  // namespace tapeline
