#include "layers/positional/t5.h"

#include <doctest/doctest.h>

#include "core/error.h"
#include "tests/layers/bias_check.h"

using namespace tapeline;

namespace tapeline::inline TAPELINE_PRECISION {
namespace {

std::string t5_refusal(const std::map<std::string, OptionValue>& options, bool causal = true) {
  PositionalConfig config = config_of("t5", options);
  config.keys.causal = causal;
  try {
    const GoldenAttention made(config);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION

TEST_CASE("golden tables: t5 buckets") {
  Index cases = 0;
  for (const auto& [name, expected] : golden_cases("bias").items()) {
    if (name.rfind("t5_bucket_", 0) != 0) continue;
    ++cases;
    const auto& params = expected.at("params");
    const T5Buckets bucket(params.at("num_buckets"), params.at("max_distance"),
                           !params.at("bidirectional").get<bool>());
    const std::vector<Index> numbers = golden_indices(expected, "bucket");
    std::vector<Index> found;
    for (std::size_t n = 0; n < numbers.size(); ++n) {
      found.push_back(bucket(-(params.at("rel_first").get<Index>() + static_cast<Index>(n))));
    }
    CHECK_MESSAGE(found == numbers, name);
  }
  CHECK(cases == 6);
}

TEST_CASE("t5: buckets begin at exact powers, where a rounded logarithm may not") {
  // e = 5, 5 steps to 160 = 32 e: bucket 5 + k begins at 5 * 2^k.
  const T5Buckets ten(10, 160, true);
  for (Index k = 1; k < 5; ++k) {
    CHECK(ten((Index{5} << k) - 1) == 4 + k);
    CHECK(ten(Index{5} << k) == 5 + k);
  }
  // e = 10, 10 steps to 320: bucket 10 + 2k begins at 10 * 2^k.
  const T5Buckets twenty(20, 320, true);
  for (Index k = 1; k < 5; ++k) {
    CHECK(twenty((Index{10} << k) - 1) == 9 + 2 * k);
    CHECK(twenty(Index{10} << k) == 10 + 2 * k);
  }
  // The largest of everything: in order, and the last is reached.
  const T5Buckets large(512, Index{2147483647}, true);
  CHECK(large(255) == 255);
  CHECK(large(256) == 256);
  CHECK(large(2147483647) == 511);
  CHECK(large(Index{1} << 40) == 511);
  CHECK(large(-3) == 0);
}

TEST_CASE("t5: the smallest tables, and buckets that are left empty") {
  const T5Buckets four(4, 3, true);  // 0, 1, then (n/2)^2 >= (3/2)^k: 2 and 3
  for (const auto& [distance, bucket] :
       {std::pair<Index, Index>{-9, 0}, {0, 0}, {1, 1}, {2, 2}, {3, 3}, {50, 3}}) {
    CHECK(four(distance) == bucket);
  }
  const T5Buckets sides(4, 2,
                        false);  // one bucket for distance 0, one for the rest; the same after the query
  for (const auto& [distance, bucket] : {std::pair<Index, Index>{0, 0}, {1, 1}, {9, 1}, {-1, 3}, {-9, 3}}) {
    CHECK(sides(distance) == bucket);
  }
  const T5Buckets dense(32, 17, true);  // 16 steps between 16 and 17: only the last has a distance of its own
  CHECK(dense(15) == 15);
  CHECK(dense(16) == 16);
  CHECK(dense(17) == 31);
  CHECK(dense.runs().size() == 18);
}

TEST_CASE("golden attention: t5, with and without the causal mask") {
  const std::vector<GoldenParameter> learned = {{"table", "positional/t5/table"}};
  PositionalConfig config = config_of("t5", {{"buckets", Index{8}}, {"max_distance", Index{12}}});
  GoldenAttention(config).check("t5_causal", learned);
  config.keys.causal = false;
  GoldenAttention(config).check("t5_bidirectional", learned);
}

TEST_CASE("t5: against plain loops, with gaps between positions") {
  const PositionalConfig config = config_of("t5", {{"buckets", Index{12}}, {"max_distance", Index{40}}});
  check_bias("t5", config);
  check_bias("t5, not causal", config, false);
}

TEST_CASE("t5: its parameter") {
  GoldenAttention made(config_of("t5", {{"buckets", Index{512}}}));
  REQUIRE(made.store.parameters().size() == 1);
  const Parameter& table = *made.store.find("positional/t5/table");
  CHECK(table.shape() == Shape{3, 512});
  CHECK_FALSE(table.decays());
  double squares = 0;
  for (const double number : numbers_of(table.value())) squares += number * number;
  CHECK(std::sqrt(squares / 1536) == doctest::Approx(0.02).epsilon(0.06));
}

TEST_CASE("t5: distances from the trained length on share the last bucket unless told otherwise") {
  // Trained length 8: the last of 8 buckets begins at 7, since (7/4)^4 >= 2^3.
  const auto beyond = [](const std::map<std::string, OptionValue>& options, Index first_distance = 6) {
    const GoldenAttention made(config_of("t5", options));
    std::vector<double> first = biases_of(*made.encoding, 3, {first_distance, 5});
    first.resize(5);
    return first;
  };
  const std::vector<double> automatic = beyond({{"buckets", Index{8}}});
  CHECK(automatic[0] != automatic[1]);
  for (std::size_t n = 2; n < 5; ++n) CHECK(automatic[n] == automatic[1]);
  CHECK(beyond({{"buckets", Index{8}}, {"max_distance", Index{8}}}) == automatic);
  const std::vector<double> longer = beyond({{"buckets", Index{8}}, {"max_distance", Index{1000}}});
  CHECK(longer != automatic);
  // More buckets than trained distances: the first half is never squeezed.
  const std::vector<double> many = beyond({{"buckets", Index{32}}}, 14);
  CHECK(many == beyond({{"buckets", Index{32}}, {"max_distance", Index{17}}}, 14));
  CHECK(many != beyond({{"buckets", Index{32}}, {"max_distance", Index{1000}}}, 14));
}

TEST_CASE("t5: what makes no sense is refused by name") {
  for (const Index buckets : {0, 2, 7, 514, -4}) {
    CHECK(t5_refusal({{"buckets", buckets}}) ==
          fmt::format("positional.t5.buckets = {}; it takes an even number from 4 to 512", buckets));
  }
  CHECK(t5_refusal({{"max_distance", Index{16}}}) ==
        "positional.t5.max_distance = 16 with positional.t5.buckets = 32; it takes auto, or a whole number "
        "above "
        "16, half of the buckets, up to 2147483647");
  CHECK(t5_refusal({{"max_distance", Index{8}}}, false) ==
        "positional.t5.max_distance = 8 with positional.t5.buckets = 32; it takes auto, or a whole number "
        "above "
        "8, a quarter of the buckets, up to 2147483647");
  CHECK(t5_refusal({{"max_distance", Index{9}}}, false).empty());
  CHECK(t5_refusal({{"max_distance", 40.5}}).starts_with("positional.t5.max_distance = 40.5"));
  CHECK(t5_refusal({{"max_distance", "nan"}}).starts_with("positional.t5.max_distance = \"nan\""));
  CHECK(
      t5_refusal({{"max_distance", Index{1} << 31}}).starts_with("positional.t5.max_distance = 2147483648"));
  CHECK(t5_refusal({{"max_distance", "far"}}) ==
        "positional.t5.max_distance = \"far\"; it takes auto, or a number");
}
