#pragma once

#include <algorithm>
#include <array>

#include "core/parallel.h"
#include "core/tape.h"

/// The gradients of what a score term has learned: sums of each worker, added in the order of the workers.
namespace tapeline::inline TAPELINE_PRECISION {

/// What a term has learned: the operands whose gradients the kernel takes; absent ones are none.
using TermInputs = std::array<Var, 5>;

/// One accumulator a worker, zeroed.
template <class Number>
Number* per_worker(Arena& arena, Index count) {
  Number* const memory = arena.allocate_array<Number>(static_cast<std::size_t>(thread_count() * count));
  std::fill_n(memory, thread_count() * count, Number{});
  return memory;
}

/// Adds the workers' sums, in their order, to the gradient of `input`, where it wants one.
inline void add_worker_sums(Var input, const double* sums) {
  if (!input || !input.needs_grad()) return;
  const GradientTarget target = input.grad_target();
  const Index count = target.tensor.size();
  for (Index n = 0; n < count; ++n) {
    double sum = 0;
    for (Index worker = 0; worker < thread_count(); ++worker) sum += sums[worker * count + n];
    Real& place = target.tensor.data[n];
    place = static_cast<Real>(sum) + (target.beta == 0 ? Real{0} : place);
  }
}

}  // namespace tapeline::inline TAPELINE_PRECISION
