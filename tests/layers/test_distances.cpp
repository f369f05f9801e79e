#include <doctest/doctest.h>

#include <set>
#include <thread>

#include "core/error.h"
#include "layers/positional/distance_encoding.h"
#include "tests/layers/tiny_model.h"
#include "tests/support/golden.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

/// Kinds whose scores get a bias of head and distance.
std::vector<std::string> distance_kinds() {
  return test::built_of({"t5", "kerple_log", "kerple_power", "sandwich"});
}

ModelPlan one_layer(const std::string& kind) {
  ModelPlan plan = tiny_plan(kind, 64);
  plan.model.layers = 1;
  return plan;
}

/// The table that a pass of `rows` rows after `begin` others gets.
Tensor table_of(const Transformer& model, Tape& tape, Index begin, Index rows) {
  Pass pass(tape);
  PassPositions all;
  all.query = {begin, rows, {}};
  all.key = {0, begin + rows, {}};
  const ScoreTerms terms = model.encoding().score_terms(pass, all, 0);
  return std::get<DistanceBias>(terms.term).table.value();
}

std::vector<double> first_columns(const Tensor& table, Index count) {
  std::vector<double> numbers;
  for (Index head = 0; head < table.shape[0]; ++head) {
    for (Index t = 0; t < count; ++t) {
      numbers.push_back(static_cast<double>(table.data[head * table.shape[1] + t]));
    }
  }
  return numbers;
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("distances: rows that run on") {
  const auto of = [](Index query_begin, Index queries, Index key_begin, Index keys, bool causal) {
    PassPositions all;
    all.query = {query_begin, queries, {}};
    all.key = {key_begin, keys, {}};
    return distances_of(all, causal);
  };
  CHECK(of(0, 8, 0, 8, true) == Distances{0, 8});
  CHECK(of(0, 8, 0, 8, false) == Distances{-7, 15});
  CHECK(of(5, 3, 0, 8, true) == Distances{0, 8});
  CHECK(of(5, 3, 0, 8, false) == Distances{-2, 10});
  CHECK(of(100, 1, 0, 101, true) == Distances{0, 101});
  CHECK(of(105, 3, 100, 8, true) == Distances{0, 8});
  CHECK(of(7, 3, 0, 8, true) == Distances{2, 8});   // queries two further than their own rows
  CHECK(of(3, 3, 0, 8, true) == Distances{-2, 8});  // and two nearer
  CHECK(of(0, 0, 0, 0, true) == Distances{0, 1});
  CHECK_THROWS_WITH_AS(of(Index{1} << 40, 1, 0, 1, true),
                       "positions: distances 1099511627776 to 1099511627776; an encoding by distance "
                       "serves fewer than 2147483648",
                       ShapeError);
}

TEST_CASE("distances: explicit positions, with gaps, and out of order") {
  const std::vector<Index> kept = {0, 1, 40, 41, 42}, last = {41, 42}, packed = {0, 1, 2, 0, 1};
  PassPositions all{rows_of(last), rows_of(kept)};
  CHECK(distances_of(all, true) == Distances{0, 43});
  CHECK(distances_of(all, false) == Distances{-1, 44});
  all.query = {41, 2, {}};
  CHECK(distances_of(all, true) == Distances{0, 43});
  all.query = all.key = rows_of(packed);  // two texts in one row: the second looks back at larger positions
  CHECK(distances_of(all, true) == Distances{-2, 5});
}

TEST_CASE("distances: every range has a slot of its own") {
  std::set<Index> slots;
  for (const Index first : {-300, -1, 0, 1, 7}) {
    for (const Index count : {1, 2, 300, 70000}) slots.insert(Distances{first, count}.slot());
  }
  CHECK(slots.size() == 20);
}

TEST_CASE("distance tables: a pass without a tape finds the numbers of a pass with one") {
  for (const std::string& kind : distance_kinds()) {
    const Transformer model = stirred(one_layer(kind));
    for (const Index rows : {3, 1, 64, 65, 500, 64}) {
      TestTape on, off(Recording::off);
      CHECK(first_columns(table_of(model, *on, 0, rows), rows) ==
            first_columns(table_of(model, *off, 0, rows), rows));
      CHECK(first_columns(table_of(model, *on, 5, rows), rows + 5) ==
            first_columns(table_of(model, *off, 5, rows), rows + 5));
    }
  }
}

TEST_CASE("distance tables: a generated token does not make the table again") {
  for (const std::string& kind : distance_kinds()) {
    const Transformer model = stirred(one_layer(kind));
    std::set<const Real*> places;
    for (Index token = 0; token < 3000; ++token) {
      TestTape tape(Recording::off);
      places.insert(table_of(model, *tape, token, 1).data);
      CHECK(tape.arena().peak_bytes() < 4096);  // nothing of the length is made for it
    }
    CHECK_MESSAGE(places.size() <= 7, kind);
  }
}

TEST_CASE("distance tables: other weights give other biases, however they were written") {
  for (const std::string& kind : test::built_of({"t5", "kerple_log", "kerple_power"})) {
    Transformer model = stirred(one_layer(kind));
    TestTape before(Recording::off);
    const Tensor kept = table_of(model, *before, 0, 40);
    const std::vector<double> first = first_columns(kept, 40);
    for (const bool announced : {false, true}) {
      for (Parameter& parameter : model.parameters().parameters()) {
        if (!parameter.name().starts_with("positional/")) continue;
        const Tensor value = announced ? parameter.mutable_value() : parameter.value();
        for (Index i = 0; i < value.size(); ++i) value.data[i] *= Real{1.25};
      }
      TestTape on, off(Recording::off);
      const Tensor again = table_of(model, *off, 0, 40);
      CHECK(again.data == kept.data);  // in the same memory
      CHECK(first_columns(again, 40) != first);
      CHECK(first_columns(again, 40) == first_columns(table_of(model, *on, 0, 40), 40));
    }
  }
}

TEST_CASE("distance tables: passes on several threads, of any length, share them") {
  for (const std::string& kind : test::built_of({"t5", "kerple_log", "kerple_power"})) {
    const Transformer model = stirred(one_layer(kind)), other = stirred(one_layer(kind));
    TestTape whole(Recording::off);
    const Tensor expected = table_of(other, *whole, 0, 2000);
    std::vector<int> wrong(4);
    std::vector<std::thread> threads;
    for (std::size_t worker = 0; worker < wrong.size(); ++worker) {
      threads.emplace_back([&, worker] {
        for (Index rows = 1 + static_cast<Index>(worker); rows < 2000; rows += 37) {
          TestTape tape(Recording::off);
          const Tensor table = table_of(model, *tape, 0, rows);
          wrong[worker] += first_columns(table, rows) != first_columns(expected, rows) ? 1 : 0;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const int count : wrong) CHECK_MESSAGE(count == 0, kind);
  }
}

TEST_CASE("distance tables: a window far from its sinks") {
  for (const std::string& kind : distance_kinds()) {
    ModelPlan plan = one_layer(kind);
    plan.positional.keys = {.causal = true, .window = 5, .sinks = 2};
    const Transformer model = stirred(plan);
    const std::vector<Token> ids = tiny_tokens(400);
    const double difference =
        largest_difference(cached_logits(model, ids, {3, 90, 1, 7}), full_logits(model, ids));
    CHECK_MESSAGE(difference < cached_limit(), kind, ": ", difference);
  }
}
