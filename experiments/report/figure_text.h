#pragma once

#include <string>
#include <vector>

#include "experiments/compare/comparison.h"
#include "experiments/compare/summary.h"
#include "experiments/report/figure.h"

namespace tapeline {

/// A series' name in figures: with its trained length where these differ.
std::string curve_name(const Series& series, const std::vector<Series>& all);

/// The x axis of a figure of lengths, once its curves stand: from the shortest to the longest of them, a tick
/// at each, a mark at the trained length when all have the same.
void set_length_axis(Figure& figure, const Comparison& comparison, const std::vector<Series>& all);

/// A mark at the trained length, when all have the same.
void set_trained_mark(Figure& figure, const std::vector<Series>& all);

/// What a figure tells in a sentence: " At 1,024 alibi is lowest with 2.38, sinusoidal highest with 4.12."
/// `digits` behind the point. Empty for one without curves.
std::string finding_text(const Figure& figure, int digits = 2);

/// " alibi 2.40 at 64, 2.38 at 1,024; …": first and last point of every curve; empty where there are more
/// than a listener can keep apart, as many as colours.
std::string ends_text(const Figure& figure, int digits = 2);

}  // namespace tapeline
