// A small model of one's own, trained in seconds: Bengio's neural language model (2003). The next byte of a
// text is told from the eight before it: their rows of a table side by side, one hidden layer, a softmax over
// 256 bytes.
//
//   own_model [FILE]    without a file it learns a made-up text
//
// A model is a struct of layers that register their parameters under names, and a function of what a pass
// puts in. What trains it is a loop of one's own: tape, backward, optimizer.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "core/arena.h"
#include "core/error.h"
#include "core/files.h"
#include "core/gradient_pool.h"
#include "core/ops.h"
#include "core/random.h"
#include "layers/embedding.h"
#include "layers/linear.h"
#include "train/optimizer.h"

using namespace tapeline;

constexpr Index context = 8, width = 16, hidden_width = 128, symbols = 256;

struct ByteModel {
  explicit ByteModel(const Scope& scope)
      : table(scope.scope("table"), symbols, width),
        hidden(scope.scope("hidden"), context * width, hidden_width),
        head(scope.scope("head"), hidden_width, symbols) {}

  // ids: `context` tokens for each target. The summed loss in nats.
  Var loss(Pass& pass, const std::vector<Token>& ids, const std::vector<Token>& targets) const {
    const Index rows = static_cast<Index>(targets.size());
    const Var before = reshape(table(pass, ids, rows, context), {rows, context * width});
    const Var features = gelu(hidden(pass, before));
    return cross_entropy(features, pass.tape.leaf(*head.weight), pass.tape.leaf(*head.bias), targets);
  }

  Embedding table;
  Linear hidden, head;
};

int run(const std::string& text) {
  require<DataError>(text.size() > context, "the text has {} bytes; more than {} are needed", text.size(),
                     context);
  ParameterStore store;
  const ByteModel model(store.root());
  store.allocate(/*seed=*/0);
  const auto optimizer = make_optimizer({.kind = "adamw"}, store);

  const Index steps = 600, rows = 256;
  std::vector<Token> ids(rows * context), targets(rows);
  Arena arena;
  GradientPool pool;
  double first = 0, mean = 0;  // nats a byte: of the first step, of the last hundred
  for (Index step = 0; step < steps; ++step) {
    const RandomKey key = random_key(0, "batches").child(static_cast<std::uint64_t>(step));
    for (std::size_t row = 0; row < targets.size(); ++row) {
      const std::size_t at = random_below(key, row, text.size() - context);
      for (std::size_t i = 0; i < context; ++i)
        ids[row * context + i] = static_cast<unsigned char>(text[at + i]);
      targets[row] = static_cast<unsigned char>(text[at + context]);
    }
    Tape tape(arena, pool);
    Pass pass(tape);
    const Var loss = model.loss(pass, ids, targets);
    const double now = static_cast<double>(loss.value().data[0]) / rows;
    if (step == 0) std::printf("step   0  loss %.3f nats a byte\n", first = now);
    mean += (now - mean) / static_cast<double>(step % 100 + 1);
    tape.backward(loss);
    optimizer->update({.rate = 1e-3, .divisor = rows, .clip = 1});
    if (step % 100 == 99) std::printf("step %3d  loss %.3f, mean of 100\n", static_cast<int>(step + 1), mean);
  }
  return mean < 0.75 * first ? 0 : 1;
}

int main(int count, char** arguments) try {
  std::string text;
  for (int i = 0; i < 2000; ++i)
    text += "day " + std::to_string(i * i % 97) + (i % 3 == 0 ? " was long. " : " was short. ");
  return run(count > 1 ? read_file(arguments[1]) : text);
} catch (const std::exception& error) {
  std::fprintf(stderr, "own_model: %s\n", error.what());
  return 1;
}
