#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/kernels/gemm.h"
#include "core/kernels/onednn.h"
#include "core/kernels/openblas.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "tests/support/reference.h"
#include "tests/support/thread_setting.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

std::vector<GemmLibrary> libraries() {
  std::vector<GemmLibrary> all{GemmLibrary::plain};
#if !defined(TAPELINE_STD_THREADS)
  all.push_back(GemmLibrary::openblas);
  if (sizeof(Real) == 4) all.push_back(GemmLibrary::onednn);
#endif
  return all;
}

struct Case {
  Case(Index m, Index n, Index k, bool ta, bool tb)
      : a(random_storage({m * k}, "a")), b(random_storage({k * n}, "b")), c(Shape{m * n}) {
    gemm = {.transpose_a = ta,
            .transpose_b = tb,
            .m = m,
            .n = n,
            .k = k,
            .a = a.data(),
            .lda = ta ? m : k,
            .b = b.data(),
            .ldb = tb ? k : n,
            .c = c.data(),
            .ldc = n};
    expected = naive_matmul(numbers_of(a.tensor()), numbers_of(b.tensor()), m, n, k, ta, tb);
  }
  // The largest error of C, which starts as `prefilled` everywhere.
  double error(GemmChoice choice, double beta, double prefilled) {
    std::fill_n(c.data(), gemm.m * gemm.n, static_cast<Real>(prefilled));
    gemm.beta = static_cast<Real>(beta);
    tapeline::gemm(gemm, choice);
    std::vector<double> right = expected;
    for (double& x : right) x += beta == 0 ? 0 : prefilled;
    return largest_difference(numbers_of(c.tensor()), right);
  }
  Storage a, b, c;
  Gemm gemm;
  std::vector<double> expected;
};

double tolerance() { return sizeof(Real) == 4 ? 1e-5 : 1e-13; }

std::ptrdiff_t live_threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

}  // namespace

TEST_CASE("gemm: every library agrees with a plain loop at every small shape and transpose") {
  const ThreadSetting threads(2);
  const Index extents[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 65};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Index m : extents) {
    for (const Index n : extents) {
      for (const Index k : extents) {
        for (int transposes = 0; transposes < 4; ++transposes) {
          Case one(m, n, k, (transposes & 1) != 0, (transposes & 2) != 0);
          double worst = 0;
          for (const GemmLibrary library : libraries()) {
            for (const GemmSplit split : {GemmSplit::library, GemmSplit::rows}) {
              worst = std::max(worst, one.error({library, split}, 0, nan));
              worst = std::max(worst, one.error({library, split}, 1, 0.5));
            }
          }
          CHECK_MESSAGE(worst <= tolerance(), "m ", m, ", n ", n, ", k ", k, ", transposes ", transposes);
        }
      }
    }
  }
}

TEST_CASE("gemm: large products, split among threads") {
  for (const int count : {1, 2, 3}) {
    const ThreadSetting threads(count);
    for (int transposes = 0; transposes < 4; ++transposes) {
      Case one(150, 96, 131, (transposes & 1) != 0, (transposes & 2) != 0);
      for (const GemmLibrary library : libraries()) {
        for (const GemmSplit split : {GemmSplit::library, GemmSplit::rows}) {
          CHECK(one.error({library, split}, 0, std::numeric_limits<double>::quiet_NaN()) <= tolerance());
          CHECK(one.error({library, split}, 1, -2) <= tolerance());
        }
      }
      CHECK(one.error(choose_gemm(one.gemm), 0, 7) <= tolerance());
    }
  }
}

TEST_CASE("gemm: row-major leading dimension is the column count") {
  const Storage a = filled_storage({3, 2}, {1, 2, 3, 4, 5, 6}), b = filled_storage({2}, {1, 2});
  const Storage c(Shape{3});
  for (const GemmLibrary library : libraries()) {
    gemm({.m = 3, .n = 1, .k = 2, .a = a.data(), .lda = 2, .b = b.data(), .ldb = 1, .c = c.data(), .ldc = 1},
         {library, GemmSplit::library});
    CHECK(numbers_of(c.tensor()) == std::vector<double>{5, 11, 17});
  }
}

TEST_CASE("gemm: parts of wider matrices") {
  const Storage a = random_storage({5, 9}, "wide a"), b = random_storage({4, 7}, "wide b");
  for (const GemmLibrary library : libraries()) {
    const Storage c = random_storage({5, 11}, "wide c");
    const std::vector<double> before = numbers_of(c.tensor());
    gemm({.m = 5,
          .n = 3,
          .k = 4,
          .a = a.data() + 2,
          .lda = 9,
          .b = b.data() + 1,
          .ldb = 7,
          .c = c.data() + 4,
          .ldc = 11},
         {library, GemmSplit::rows});
    std::vector<double> right = before;
    for (std::size_t i = 0; i < 5; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        double sum = 0;
        for (std::size_t l = 0; l < 4; ++l) sum += double(a.data()[i * 9 + l + 2]) * b.data()[l * 7 + j + 1];
        right[i * 11 + j + 4] = sum;
      }
    }
    CHECK(largest_difference(numbers_of(c.tensor()), right) <= tolerance());
  }
}

TEST_CASE("gemm: empty products are exact") {
  const Storage c = filled_storage({4}, {1, 2, 3, 4});
  Gemm empty{.m = 2, .n = 2, .k = 0, .lda = 0, .ldb = 2, .beta = 1, .c = c.data(), .ldc = 2};
  for (const GemmLibrary library : libraries()) {
    empty.beta = 1;
    gemm(empty, {library, GemmSplit::library});
    CHECK(numbers_of(c.tensor()) == std::vector<double>{1, 2, 3, 4});
  }
  empty.beta = 0;
  for (const Index extent : {0, 2}) {
    Gemm nothing = empty;
    nothing.m = extent;
    nothing.n = 2 - extent;
    nothing.k = 3;
    gemm(nothing);
  }
  CHECK(numbers_of(c.tensor()) == std::vector<double>{1, 2, 3, 4});
  gemm(empty);
  CHECK(numbers_of(c.tensor()) == std::vector<double>{0, 0, 0, 0});
}

TEST_CASE("gemm: inside a parallel region each call stays on its thread") {
  const ThreadSetting threads(2);
  Case one(160, 128, 64, false, true);
  parallel_for(2, 1, [](Index, Index) {});
  const auto before = live_threads();
  for (const GemmLibrary library : libraries()) {
    std::vector<Storage> results;
    for (int i = 0; i < 2; ++i) results.emplace_back(Shape{160 * 128});
    parallel_for(2, 1, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        Gemm mine = one.gemm;
        mine.c = results[static_cast<std::size_t>(i)].data();
        gemm(mine, {library, GemmSplit::rows});
        gemm(mine, {library, GemmSplit::library});
      }
    });
    for (const Storage& result : results)
      CHECK(largest_difference(numbers_of(result.tensor()), one.expected) <= tolerance());
  }
  CHECK(live_threads() <= before);
}

TEST_CASE("gemm: the same bits for the same thread count") {
  const ThreadSetting threads(2);
  Case one(256, 192, 128, true, false);
  CHECK(one.error(choose_gemm(one.gemm), 0, 0) <= tolerance());
  const std::vector<double> first = numbers_of(one.c.tensor());
  for (int repeat = 0; repeat < 5; ++repeat) {
    one.error(choose_gemm(one.gemm), 0, 0);
    CHECK(numbers_of(one.c.tensor()) == first);
  }
}

TEST_CASE("gemm: the rule depends on shape and thread count") {
  const auto choose = [](Index m, Index n, Index k) {
    return choose_gemm({.m = m, .n = n, .k = k, .lda = k, .ldb = n, .ldc = n});
  };
#if defined(TAPELINE_STD_THREADS)
  CHECK(choose(2048, 512, 128).library == GemmLibrary::plain);
#else
  const bool onednn = sizeof(Real) == 4 && onednn_is_vectorised();
  CHECK(choose(2048, 512, 128).library == (onednn ? GemmLibrary::onednn : GemmLibrary::openblas));
  CHECK(choose(16, 16, 32).library == GemmLibrary::openblas);
  const bool onednn_copies_well = onednn && onednn_has_avx512();
  CHECK(choose(2048, 256, 1024).library ==
        (onednn_copies_well ? GemmLibrary::onednn : GemmLibrary::openblas));
  CHECK(choose_gemm({.transpose_a = true, .m = 512, .n = 128, .k = 2048, .lda = 512, .ldb = 128, .ldc = 128})
            .library == (onednn_copies_well ? GemmLibrary::onednn : GemmLibrary::openblas));
  {
    const ThreadSetting threads(2);
    CHECK(choose(2048, 512, 128).split == GemmSplit::rows);
    CHECK(choose(1, 4096, 4096).split == GemmSplit::library);
    CHECK(choose(64, 64, 32).split == GemmSplit::library);
  }
  const ThreadSetting threads(1);
  CHECK(choose(2048, 512, 128).split == GemmSplit::library);
#endif
}

TEST_CASE("gemm: what this build or precision has not is refused") {
  Case one(2, 2, 2, false, false);
#if defined(TAPELINE_STD_THREADS)
  CHECK_THROWS_WITH_AS(gemm(one.gemm, {GemmLibrary::openblas, GemmSplit::rows}),
                       "gemm: this build (TAPELINE_STD_THREADS) has the plain loop only", ConfigError);
#else
  if (sizeof(Real) == 8) {
    CHECK_THROWS_WITH_AS(gemm(one.gemm, {GemmLibrary::onednn, GemmSplit::rows}),
                         "gemm: oneDNN has no product in double precision; use OpenBLAS", ConfigError);
  }
#endif
}

}  // namespace tapeline::inline TAPELINE_PRECISION

#if !defined(TAPELINE_STD_THREADS)
TEST_CASE("OpenBLAS and oneDNN say what they are") {
  const ThreadSetting setting(2);
  const OpenBlasInfo openblas = openblas_info();
  CHECK(openblas.config.find("OpenBLAS") != std::string::npos);
  CHECK(openblas.file.find("openblas") != std::string::npos);
  // The pthread flavour, forced upon the program by LD_LIBRARY_PATH, must be reported and kept to one thread.
  const bool own_pool = openblas.flavour == "pthread";
  CHECK((own_pool || openblas.flavour == "openmp"));
  CHECK(openblas_warning().empty() == !own_pool);
  CHECK(openblas.threads == (own_pool ? 1 : 2));
  set_thread_count(1);
  CHECK(openblas_info().threads == 1);
  set_thread_count(2);
  CHECK(openblas_info().threads == (own_pool ? 1 : 2));
  CHECK(onednn_info().version.find('.') != std::string::npos);
  CHECK(onednn_info().runtime == "openmp");
  CHECK_FALSE(onednn_info().instruction_set.empty());
}

TEST_CASE("OpenBLAS: no room for its buffers is an error, not an endless wait") {
  require_room_for_openblas();  // here there is
  const pid_t child = fork();
  if (child == 0) {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t room = rlim_t{64} << 20;
    const rlim_t most = pages * static_cast<rlim_t>(sysconf(_SC_PAGE_SIZE)) + room;
    const rlimit limit{most, most};
    setrlimit(RLIMIT_AS, &limit);
    try {
      require_room_for_openblas();
    } catch (const MemoryError&) {
      _exit(7);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 7));
}
#endif
