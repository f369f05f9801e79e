#pragma once

#include "experiments/claims/claim.h"
#include "layers/model_config.h"

/// Claims about tables of positions, and about windows that begin elsewhere.
namespace tapeline {

/// True: a model of the plan refuses one row more than it was trained with. `others`: the same plan with
/// other policies, whose names are told when they run.
ClaimFinding longer_window_is_refused(const ModelPlan& plan, const std::vector<ModelPlan>& others);
/// True: rows of a learned table past the trained length get no gradient in training.
ClaimFinding far_rows_stay_untrained(const ModelPlan& plan);
/// How far the output of a stirred model moves when all positions do, by 1000: largest difference over root
/// mean square.
double change_by_shift(const ModelPlan& plan);
/// True: `relative` plans do not change (1e-3 of the output's size), `absolute` ones do.
ClaimFinding only_absolute_positions_shift(const std::vector<ModelPlan>& relative,
                                           const std::vector<ModelPlan>& absolute);

}  // namespace tapeline
