#pragma once

#include "core/arena.h"
#include "core/gradient_pool.h"
#include "layers/positional/encoding.h"

namespace tapeline {

/// A pass over nothing: what an encoding makes lives as long.
struct Probe {
  explicit Probe(Index declared_context, Recording recording = Recording::off)
      : tape(arena, pool, recording), pass(tape) {
    pass.declared_context = declared_context;
  }
  Arena arena;
  GradientPool pool;
  Tape tape;
  Pass pass;
};

/// Rows 0 .. length-1 over themselves.
inline PassPositions rows_seen(Probe& probe, const PositionalEncoding& encoding, Index length) {
  PassPositions all;
  all.query = all.key = encoding.positions(probe.pass, 0, length);
  return all;
}

/// Where the vector of a distance begins among vectors of relative positions, [H or 1, rows, D] or [rows, H
/// D], D = `width`.
inline Index vector_begin(const Shape& shape, std::span<const Index> index, Index first_distance, Index head,
                          Index distance, Index width) {
  const Index place = distance - first_distance;
  const Index row = index.empty() ? place : index[static_cast<std::size_t>(place)];
  if (shape.rank() == 2) return row * shape[1] + head * width;
  return ((shape[0] == 1 ? 0 : head) * shape[1] + row) * width;
}

inline double number_at(Var var, Index at) { return static_cast<double>(var.value().data[at]); }

}  // namespace tapeline
