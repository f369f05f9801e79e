#pragma once

#include "experiments/claims/claim.h"
#include "experiments/encodings/view.h"

/// Claims about what scalings do to the frequencies of RoPE, read from its rotation tables. `plain` is the
/// same encoding without a scaling.
namespace tapeline {

/// By how much wavelengths grow, pair by pair, the fastest first.
std::vector<double> wavelength_growth(const EncodingView& scaled, const EncodingView& plain);

/// True: the fastest pair keeps its wavelength, that of the slowest grows by `factor`, both within 1e-4.
ClaimFinding scaling_keeps_the_fastest(const EncodingView& scaled, const EncodingView& plain, double factor);
/// True: every wavelength grows by `factor`, within 1e-4 of it.
ClaimFinding scaling_slows_all(const EncodingView& scaled, const EncodingView& plain, double factor);
/// True: some pairs keep their wavelength, some have it grow by `factor`. `small`: the same trained at 64.
ClaimFinding scaling_goes_by_parts(const EncodingView& scaled, const EncodingView& plain, double factor,
                                   const EncodingView& small_scaled, const EncodingView& small_plain);
/// True: the tables multiply q . k by (0.1 ln factor + 1)^2, within 1e-5.
ClaimFinding scaling_holds_temperature(const EncodingView& scaled, double factor);
/// True: in a context of the trained length the tables are those of `plain`, and in a longer one not.
ClaimFinding scaling_spares_short_contexts(const EncodingView& scaled, const EncodingView& plain);
/// True: a stirred model gives its first L rows, L the trained length, in a window of 4 L as in one of L,
/// within 1e-4 of their root mean square.
ClaimFinding prefix_is_kept(const ModelPlan& scaled, const ModelPlan& plain);

}  // namespace tapeline
