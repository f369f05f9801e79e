// A positional encoding of one's own: a bias of the attention scores that falls with the square root of the
// distance,
//   b_h(d) = -slope_h sqrt(d),
// with a trained slope a head. A Transformer is given it, trained on windows of 32 bytes and evaluated on
// windows up to eight times as long; beside it one without positions, from the same initial weights and on
// the same windows.
//
//   own_encoding [FILE]    without a file it learns a made-up text
//
// An encoding derives from PositionalEncoding and overrides what it needs. A bias of head and distance needs
// no kernel: it is a table [heads, distances] made of ordinary ops, and the tape takes its gradient back to
// the slopes.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "core/files.h"
#include "core/ops.h"
#include "core/random.h"
#include "data/window_sampler.h"
#include "layers/transformer.h"
#include "train/evaluate.h"
#include "train/optimizer.h"
#include "train/train_step.h"

using namespace tapeline;

class RootBias final : public PositionalEncoding {
 public:
  explicit RootBias(const EncodingContext& context) : PositionalEncoding(context.head_width) {
    const auto half = [](Tensor value, RandomKey) { std::fill_n(value.data, value.size(), Real{0.5}); };
    slopes_ = &context.scope.add(
        "slopes", {.shape = {context.heads, 1}, .initializer = half, .bounds = {.lowest = Real{0}}});
  }

  ScoreTerms score_terms(Pass& pass, const PassPositions& all, Index layer) const override {
    ScoreTerms terms = PositionalEncoding::score_terms(pass, all, layer);  // scale and causal mask
    // Once a pass, for all layers: they see the same rows.
    const Var table = pass.once(this, rows_slot(all.query), [&] {
      const Index distances = all.query.at(all.query.count - 1) - all.key.at(0) + 1;
      const Tensor roots = pass.tape.allocate({1, distances});
      for (Index d = 0; d < distances; ++d) roots.data[d] = -std::sqrt(static_cast<Real>(d));
      return multiply(pass.tape.leaf(*slopes_), pass.tape.constant(roots));  // [H, 1] * [1, D] -> [H, D]
    });
    terms.term = DistanceBias{.table = table, .first_distance = 0};
    return terms;
  }

 private:
  Parameter* slopes_;
};

// Trains and evaluates one model; returns its bits per byte at each length.
std::vector<double> measure(const char* name, const Transformer::MakeEncoding& make, const TokenStore& text,
                            const Tokenizer& bytes) {
  ModelPlan plan;
  plan.model = {.layers = 2, .width = 48, .heads = 4};
  plan.positional.kind = name;  // where its parameters stand: positional/<name>/slopes
  plan.train_length = 32;
  Transformer model(plan, make);

  const Splits splits = split_blocks(text.size(), 0, plan.train_length, 8 * plan.train_length, 0.1, 0);
  WindowSampler sampler(text, splits.train, plan.train_length, /*seed=*/0);
  const StepShape shape{.length = plan.train_length, .windows = 16, .micro_batch = 16};
  TrainStep step(model, shape, /*dropout=*/0, /*seed=*/0);
  const auto optimizer = make_optimizer({.kind = "adamw"}, model.parameters());
  std::vector<Token> inputs(static_cast<std::size_t>(shape.tokens())), targets(inputs.size());
  std::printf("%s, %d parameters\n", name, static_cast<int>(model.parameters().size()));
  for (Index i = 0; i < 150; ++i) {
    sampler.next(shape.windows, inputs, targets);
    const LossSum loss = step.run(i, inputs, targets);
    optimizer->update({.rate = 3e-3, .divisor = static_cast<double>(shape.tokens()), .clip = 1});
    if (i % 50 == 0) std::printf("  step %3d  loss %.3f nats a byte\n", static_cast<int>(i), loss.mean());
  }

  EvaluationPlan evaluation;
  evaluation.scored =
      scored_set(splits.validation, 8 * plan.train_length);  // the same targets at every length
  std::vector<double> bits;
  for (const Index times : {1, 2, 4, 8}) {
    const Index length = times * plan.train_length;
    const EvaluationCell cell{.protocol = Protocol::nonoverlapping, .length = length, .stride = length};
    bits.push_back(evaluate_cell(model, text, bytes, evaluation, cell).bits_per_byte);
    std::printf("  length %3d  %.3f bits per byte\n", static_cast<int>(length), bits.back());
  }
  return bits;
}

int run(const std::string& characters) {
  const auto bytes = make_tokenizer("bytes");
  const TokenStore text = TokenStore::from_text(characters, *bytes, "example");
  const auto own = measure(
      "root", [](const EncodingContext& context) { return std::make_unique<RootBias>(context); }, text,
      *bytes);
  struct NoPositions final : PositionalEncoding {
    explicit NoPositions(Index head_width) : PositionalEncoding(head_width) {}
  };
  measure(
      "nothing",
      [](const EncodingContext& context) { return std::make_unique<NoPositions>(context.head_width); }, text,
      *bytes);
  const bool holds = own.back() < 1.05 * own.front();
  std::printf("root at eight times its length: %s\n", holds ? "as good as at its length" : "worse");
  return holds ? 0 : 1;
}

// Sentences of a few words, each line about one of them.
std::string made_up_text() {
  const char* const words[] = {"river", "stone", "light", "garden", "winter", "letter", "music", "harbour"};
  const RandomKey key = random_key(1, "text");
  std::string text;
  for (std::uint64_t line = 0; text.size() < 60000; ++line) {
    const std::string word = words[random_below(key, 2 * line, 8)],
                      other = words[random_below(key, 2 * line + 1, 8)];
    text += "the " + word + " and the " + other + " belong to the " + word + ".\n";
  }
  return text;
}

int main(int count, char** arguments) try {
  return run(count > 1 ? read_file(arguments[1]) : made_up_text());
} catch (const std::exception& error) {
  std::fprintf(stderr, "own_encoding: %s\n", error.what());
  return 1;
}
