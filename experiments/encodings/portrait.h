#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/encodings/chart.h"
#include "experiments/encodings/view.h"

namespace tapeline {

/// What is drawn of an encoding.
struct PortraitRequest {
  std::string name;            ///< in titles and file names
  Index length = 0;            ///< distances and positions below it, and the declared context
  std::optional<Index> layer;  ///< absent: the first of each encoding that is drawn
  std::string only_kind;       ///< empty: every encoding of the model
  bool around_only = false;    ///< not the encodings, but what goes around them
};

/// Whatever the interface of an encoding gives away, drawn: bias by distance, rotation, rows added to the
/// tokens, vectors that belong to distances, the factor on the scores, randomized positions, and, where there
/// is nothing else or a window, which keys are seen. `plain`: the same without scaling, drawn beside it.
std::vector<Chart> portrait(const EncodingView& view, const EncodingView* plain,
                            const PortraitRequest& request);

/// The parts of a portrait.
struct PortraitPart {
  const EncodingView& view;
  std::string name;   ///< of the files
  std::string title;  ///< "alibi", "t5 (trained, layer 2)"
  Index layer = 0, length = 0;
};
std::vector<Chart> bias_charts(const PortraitPart& part);
std::vector<Chart> rotation_charts(const PortraitPart& part, const EncodingView* plain);
std::vector<Chart> vector_charts(const PortraitPart& part, const VectorTable& table,
                                 const std::string& suffix);

/// The mark of the trained length on the x axis, where the axis goes past it.
void mark_trained_length(Chart& chart, Index trained, Index length);
/// At most `most` of 0 .. count-1, evenly spread, first and last among them.
std::vector<Index> spread_over(Index count, Index most);

}  // namespace tapeline
