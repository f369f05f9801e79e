#include <doctest/doctest.h>

#include "core/ops.h"
#include "tests/layers/golden_attention.h"

using namespace tapeline;

TEST_CASE("golden attention: no positions" * test::needs({"none"})) {
  GoldenAttention(config_of("none")).check("none_causal");
}

TEST_CASE("golden attention: window and sinks over any encoding" * test::needs({"none"})) {
  PositionalConfig config = config_of("none");
  config.keys.window = 4;
  GoldenAttention(config).check("window4");
  config.keys.sinks = 1;
  GoldenAttention(config).check("window4_sink1");
}

TEST_CASE("golden attention: without the causal mask" * test::needs({"none", "alibi"})) {
  PositionalConfig config = config_of("alibi");
  config.keys.causal = false;
  GoldenAttention(config).check("alibi_symmetric");
  GoldenAttention plain(config_of("none"));
  plain.mask.causal = false;
  plain.check("none_full");
}

TEST_CASE("golden attention: alibi" * test::needs({"alibi"})) {
  GoldenAttention(config_of("alibi")).check("alibi_causal");
  GoldenAttention(config_of("alibi")).check("alibi_randomized");
}

TEST_CASE("golden attention: alibi with learned slopes" * test::needs({"alibi"})) {
  GoldenAttention learned(config_of("alibi", {{"learned", true}}));
  const auto& expected = golden_case("attention", "alibi_learned");
  Parameter& slopes = *learned.store.find("positional/alibi/slopes");
  CHECK(slopes.bounds().lowest == 0);
  CHECK_FALSE(slopes.decays());
  const Tensor value = slopes.mutable_value();
  const std::vector<double> numbers = golden_numbers(expected, "slope");
  for (Index h = 0; h < 3; ++h) value.data[h] = static_cast<Real>(numbers[static_cast<std::size_t>(h)]);
  learned.check("alibi_learned");
  check_golden("alibi_learned", slopes.grad(), expected, "d_slope", Golden::gradient);
}

TEST_CASE("golden input encodings: rows added, attention over them, gradients by row and table" *
          test::needs({"sinusoidal", "learned"})) {
  const auto& inputs = golden_case("input", "inputs");
  const Index length = 7, width = 12;
  const Storage x = golden_storage(inputs, "x", {1, length, width});
  const Storage d_out = golden_storage(inputs, "dout", {1, 2, length, 6});
  Storage joint({3 * width, width});  // query, key and value weights, ours are [out, in]
  for (Index part = 0; part < 3; ++part) {
    const std::vector<double> weight =
        golden_numbers(inputs, std::vector<std::string>{"Wq", "Wk", "Wv"}[static_cast<std::size_t>(part)]);
    for (Index in = 0; in < width; ++in) {
      for (Index out = 0; out < width; ++out) {
        joint.data()[(part * width + out) * width + in] =
            static_cast<Real>(weight[static_cast<std::size_t>(in * width + out)]);
      }
    }
  }

  const auto check = [&](const std::string& name, const PositionalConfig& config) {
    const auto& expected = golden_case("input", name);
    ParameterStore store;
    const auto encoding =
        make_encoding(config, {.width = width,
                               .heads = 2,
                               .head_width = 6,
                               .layers = 1,
                               .train_length = 9,
                               .scope = store.root().scope("positional").scope(config.kind)});
    store.allocate(0);
    Parameter* table = store.find("positional/learned/table");
    if (table != nullptr) {
      const std::vector<double> numbers = golden_numbers(expected, "table");
      const Tensor value = table->mutable_value();
      for (Index i = 0; i < value.size(); ++i) {
        value.data[i] = static_cast<Real>(numbers[static_cast<std::size_t>(i)]);
      }
    }
    Arena arena;
    GradientPool pool;
    Tape tape(arena, pool);
    Pass pass(tape);
    PassPositions all;
    all.query = all.key = encoding->positions(pass, 0, length);
    std::vector<Index> explicit_positions;
    if (expected.at("arrays").contains("ids")) explicit_positions = golden_indices(expected, "ids");
    if (expected.at("params").contains("positions")) {
      explicit_positions = expected.at("params").at("positions").get<std::vector<Index>>();
    }
    if (!explicit_positions.empty()) all.query.axis[0] = all.key.axis[0] = explicit_positions;

    const Var rows = tape.variable(x.tensor());
    const Var y = encoding->add_to_input(pass, rows, all.query);
    check_golden(name, y.value(), expected, "y");
    const HeadsSplit split = split_heads(linear(y, tape.constant(joint.tensor()), Var{}), 2, 2);
    const Var out = attention(split.query, split.key, split.value, encoding->score_terms(pass, all, 0));
    check_golden(name, out.value(), expected, "out");
    tape.backward(sum(multiply(out, tape.constant(d_out.tensor()))));
    check_golden(name, rows.grad(), expected, "dx", Golden::gradient);
    if (table != nullptr) check_golden(name, table->grad(), expected, "d_table", Golden::gradient);
  };
  check("sinusoidal_interleaved", config_of("sinusoidal", {{"scale", 1.0}}));
  check("sinusoidal_half", config_of("sinusoidal", {{"scale", Index{1}}, {"layout", "half"}}));
  check("sinusoidal_randomized", config_of("sinusoidal", {{"scale", "1"}}));
  check("learned", config_of("learned"));
  check("learned_randomized", config_of("learned"));
}
