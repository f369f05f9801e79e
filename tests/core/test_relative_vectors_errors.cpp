#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "tests/support/reference_relative_vectors.h"

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

std::string relative_message(const RelativeCase& c, auto&& change) {
  const RelativeInputs inputs(c);
  TestTape tape;
  const auto variable = [&](const Storage& storage) {
    return storage.data() == nullptr ? Var{} : tape->variable(storage.tensor());
  };
  ScoreTerms terms =
      relative_terms(c, {}, variable(inputs.r), variable(inputs.p), variable(inputs.u), variable(inputs.v));
  change(*tape, std::get<RelativeVectors>(terms.term));
  try {
    attention(variable(inputs.base.q), variable(inputs.base.k), variable(inputs.base.v), terms);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}
std::string relative_message(const RelativeCase& c) {
  return relative_message(c, [](Tape&, RelativeVectors&) {});
}

TEST_CASE("relative vectors: a distance outside the tables is refused with the distance and their range") {
  RelativeCase c{{"", 1, 2, 2, 70, 70, 8}, 60};
  CHECK(relative_message(c) ==
        "attention: distance 69 is outside the relative vectors, which hold distances 0 to 59; make the "
        "table or "
        "its index longer");
  c.base.mask.window = 60;
  CHECK(relative_message(c) == "nothing was thrown");
  c.base.mask.sinks = 1;
  CHECK(relative_message(c).starts_with("attention: distance 69 is outside"));
  c.base.mask = {false, 0, 0};
  c.rows = 70;
  CHECK(relative_message(c).starts_with("attention: distance -69 is outside"));
  c.base.mask = {};
  for (Index i = 0; i < 70; ++i) c.base.key_positions.push_back(i);
  c.base.query_positions = c.base.key_positions;
  CHECK(relative_message(c) == "nothing was thrown");
  c.base.query_positions[50] = 75;
  CHECK(relative_message(c).starts_with("attention: distance 7"));
  CHECK(relative_message(c).ends_with("hold distances 0 to 69; make the table or its index longer"));
  for (Index& position : c.base.query_positions) position += 5000;
  CHECK(relative_message(c).starts_with("attention: distance "));
  c.key = true;
  c.query = false;
  CHECK(relative_message(c).starts_with("attention: distance "));
}

TEST_CASE("relative vectors that do not fit are refused in one line that names them") {
  RelativeCase c{{"", 1, 2, 2, 8, 8, 4}, 8};
  c.key = c.biases = true;
  const auto with = [&](auto&& change) { return relative_message(c, change); };
  const Storage odd({3, 8, 4}), narrow({2, 3}), longer({2, 9, 4});
  CHECK(with([&](Tape& tape, RelativeVectors& term) { term.query_vectors = tape.variable(odd.tensor()); }) ==
        "attention: the relative query vectors are [3, 8, 4], q has 2 heads of width 4; expected [2 or 1, "
        "rows, "
        "4] or [rows, 8]");
  CHECK(
      with([&](Tape& tape, RelativeVectors& term) { term.key_vectors = tape.variable(longer.tensor()); }) ==
      "attention: the relative query vectors cover 8 distances, the key vectors 9; they must cover the same");
  CHECK(with([&](Tape& tape, RelativeVectors& term) { term.u = tape.variable(narrow.tensor()); }) ==
        "attention: the bias u of the relative vectors is [2, 3], q has 2 heads of width 4; expected [2, 4]");
  CHECK(with([](Tape&, RelativeVectors& term) { term.query_vectors = {}; }) ==
        "attention: the bias v of the relative vectors is [2, 4], the query vectors are absent; v is "
        "multiplied "
        "with them");
  const std::vector<Index> index{0, 1, 2, 3, 4, 5, 6, 8};
  CHECK(with([&](Tape&, RelativeVectors& term) { term.key_index = index; }) ==
        "attention: the index of the relative key vectors names row 8, the table is [2, 8, 4]; expected 0 to "
        "7");
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION
