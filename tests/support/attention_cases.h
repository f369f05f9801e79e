#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "tests/support/reference_attention.h"

namespace tapeline::inline TAPELINE_PRECISION {

/// Distinct, repeatable numbers for slopes, tables and scales.
inline std::vector<double> spread(Index count, double from, double to) {
  std::vector<double> numbers;
  for (Index n = 0; n < count; ++n) {
    numbers.push_back(from + (to - from) * std::fmod(0.37 + 0.618034 * static_cast<double>(n), 1.0));
  }
  return numbers;
}

/// Cases that together use every option, and every shape where tiles, vectors and bands can end badly.
inline std::vector<AttentionCase> attention_cases() {
  std::vector<AttentionCase> all;
  const auto add = [&all](AttentionCase c) { all.push_back(std::move(c)); };
  const KeyMask full{false, 0, 0};
  add({"one row", 1, 1, 1, 1, 1, 8});
  add({"one row, odd width", 2, 2, 1, 1, 1, 6});
  add({"odd rows", 2, 2, 2, 7, 7, 10});
  add({"one tile", 2, 4, 4, 64, 64, 32});
  add({"tile and one", 1, 2, 2, 65, 65, 16});
  add({"many tiles", 1, 2, 1, 200, 200, 64});
  add({"wide head", 1, 1, 1, 33, 33, 130});
  add({"not causal", 2, 3, 3, 70, 70, 10, full});
  add({"one query of many keys", 2, 4, 2, 1, 150, 32});
  add({"chunk at the end", 1, 2, 2, 40, 131, 16});
  add({"chunk, not causal", 1, 2, 2, 40, 131, 6, full});
  add({"window", 1, 2, 2, 150, 150, 8, {true, 37, 0}});
  add({"window 1", 1, 1, 1, 70, 70, 8, {true, 1, 0}});
  add({"window and sinks", 1, 2, 2, 200, 200, 16, {true, 20, 5}});
  add({"narrow window, many sinks", 1, 1, 1, 150, 150, 8, {true, 3, 70}});
  AttentionCase biased{"window and sinks, slopes", 1, 2, 1, 200, 200, 8, {true, 20, 5}};
  biased.slopes = spread(2, 0.05, 0.5);
  add(biased);
  biased.name = "window and sinks, slopes, dropout";
  biased.dropout = {0.3, random_key(8, "sinks"), 0};
  add(biased);
  AttentionCase tabled{"window and sinks, table", 1, 2, 1, 200, 200, 8, {true, 20, 5}};
  tabled.table = spread(2 * 200, -1, 1);
  add(tabled);
  add({"window, not causal", 1, 2, 2, 90, 90, 8, {false, 10, 2}});
  add({"window, chunk", 1, 2, 1, 30, 170, 8, {true, 33, 3}});
  add({"grouped heads", 2, 6, 2, 67, 67, 8});
  AttentionCase scaled{"scale by row", 2, 2, 2, 70, 70, 8};
  scaled.query_scale = spread(70, 0.5, 1.5);
  add(scaled);
  scaled.name = "scale by head and row";
  scaled.query_scale = spread(140, 0.5, 1.5);
  add(scaled);
  AttentionCase linear{"slopes", 2, 4, 2, 131, 131, 16};
  linear.slopes = spread(4, 0.05, 0.5);
  add(linear);
  linear.name = "slopes, symmetric";
  linear.mask = full;
  add(linear);
  linear.name = "slopes, chunk";
  linear.query_rows = 5;
  add(linear);
  linear.name = "slopes, explicit positions";
  linear.query_rows = linear.key_rows = 70;
  for (Index i = 0; i < 70; ++i) linear.key_positions.push_back(3 * i + i % 2);
  linear.query_positions = linear.key_positions;
  add(linear);
  AttentionCase bias{"table", 2, 2, 2, 131, 131, 10};
  bias.table = spread(2 * 131, -1, 1);
  add(bias);
  bias.name = "table, chunk";
  bias.query_rows = 67;
  add(bias);
  bias.name = "table, longer than asked for";
  bias.table = spread(2 * 300, -1, 1);
  add(bias);
  bias.name = "table, one query";
  bias.query_rows = 1;
  add(bias);
  bias.name = "table, not causal";
  bias.mask = full;
  bias.query_rows = 131;
  bias.first_distance = -132;
  bias.table = spread(2 * 270, -1, 1);
  add(bias);
  bias.name = "table, explicit positions";
  bias.query_rows = bias.key_rows = 70;
  for (Index i = 0; i < 70; ++i) bias.key_positions.push_back(i + i / 3);
  bias.query_positions = bias.key_positions;
  add(bias);
  // From key tile to key tile by less and by more than what a softmax lets its sums grow unscaled.
  for (const double by_tile : {2.5, 15.0, 37.0, -15.0}) {
    AttentionCase climbing{"scores that climb with the keys", 1, 1, 1, 260, 260, 8};
    for (Index distance = 0; distance < 260; ++distance)
      climbing.table.push_back(-by_tile * static_cast<double>(distance) / 64);
    add(climbing);
  }
  AttentionCase windowed{"table, window", 1, 2, 1, 140, 140, 8, {true, 40, 0}};
  windowed.table = spread(80, -1, 1);
  add(windowed);
  AttentionCase dropped{"dropout", 2, 2, 1, 75, 75, 8};
  dropped.dropout = {0.3, random_key(3, "attention"), 5};
  add(dropped);
  dropped.name = "dropout, chunk, slopes, scale";
  dropped.query_rows = 20;
  dropped.slopes = spread(2, 0.1, 0.3);
  dropped.query_scale = spread(20, 0.5, 1.5);
  add(dropped);
  dropped.name = "everything dropped";
  dropped.dropout.rate = 1;
  add(dropped);
  return all;
}

}  // namespace tapeline::inline TAPELINE_PRECISION
