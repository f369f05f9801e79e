#include <omp.h>

#include <algorithm>

#include "core/available_cores.h"
#include "core/parallel_backend.h"

namespace tapeline {

bool in_parallel_region() { return threads::InRegion::here() || omp_in_parallel() != 0; }

// OpenMP's, not the calling thread's own affinity: OMP_PROC_BIND ties that to one processor.
int available_cores() { return std::max(1, omp_get_num_procs()); }

namespace threads {

int backend_most_threads() { return std::max(1, omp_get_thread_limit()); }

int backend_thread_count() { return std::max(1, omp_get_max_threads()); }

// oneDNN asks OpenMP for the count at every call, and OpenBLAS is told before each. Both wait for as many as
// were asked for: a team that the runtime makes smaller gives wrong products, or none ever.
void backend_set_thread_count(int count) {
  omp_set_dynamic(0);
  if (omp_get_max_active_levels() < 1) omp_set_max_active_levels(1);
  omp_set_num_threads(count);
}

void run_workers(int workers, WorkerFunction function, void* context) {
  FirstException failure;
  // Always the whole team: libgomp ends the surplus threads of a smaller one and starts them again for the
  // next.
  const int team = std::max(workers, thread_count());
#pragma omp parallel num_threads(team)
  {
    // Should the runtime give fewer threads all the same, every share is still done.
    for (int worker = omp_get_thread_num(); worker < workers; worker += omp_get_num_threads()) {
      run_one(worker, function, context, failure);
    }
  }
  failure.rethrow();
}

}  // namespace threads
}  // namespace tapeline
