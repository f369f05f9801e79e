#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "train/evaluate.h"
#include "train/probe.h"

namespace tapeline {

/// For people: a table for each probe that was measured, units and counts in it; of attention the mean over
/// all heads with the lowest and the highest of them. `evaluations`: of the same model, to be set beside.
std::string probe_tables(const std::vector<ProbeResult>& probes,
                         const std::vector<EvaluationResult>& evaluations, std::size_t width);

/// For programs: all figures of all probes.
nlohmann::ordered_json probes_json(const std::vector<ProbeResult>& probes);

}  // namespace tapeline
