#include "tests/support/plain_transformer.h"

#include <cmath>
#include <utility>

namespace tapeline::plain {
namespace {

Numbers sum(Numbers a, const Numbers& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

}  // namespace

Transformer::Transformer(std::size_t layers, std::size_t heads, std::string encoding, Parameters parameters)
    : layers_(layers),
      heads_{.count = heads, .width = parameters.at("final_norm/gain").value.size() / heads},
      encoding_(std::move(encoding)),
      slopes_(heads),
      parameters_(std::move(parameters)) {
  for (auto& [name, parameter] : parameters_) parameter.gradient.assign(parameter.value.size(), 0);
  if (encoding_ != "alibi") return;
  for (std::size_t h = 0; h < heads; ++h) {
    slopes_[h] = std::pow(2, -8 * static_cast<double>(h + 1) / static_cast<double>(heads));
  }
}

Parameter& Transformer::at(std::size_t layer, const std::string& name) {
  return parameters_.at("blocks/" + std::to_string(layer) + "/" + name);
}

Numbers Transformer::embedded(std::span<const std::int32_t> tokens) const {
  const Numbers& table = parameters_.at("embedding/weight").value;
  const std::size_t width = heads_.count * heads_.width;
  Numbers x(tokens.size() * width);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = table[static_cast<std::size_t>(tokens[i / width]) * width + i % width];
  }
  return encoding_ == "learned" ? sum(x, parameters_.at("positional/learned/table").value) : x;
}

void Transformer::embedded_backward(std::span<const std::int32_t> tokens, const Numbers& d_x) {
  Numbers& d_table = parameters_.at("embedding/weight").gradient;
  const std::size_t width = heads_.count * heads_.width;
  for (std::size_t i = 0; i < d_x.size(); ++i) {
    d_table[static_cast<std::size_t>(tokens[i / width]) * width + i % width] += d_x[i];
  }
  if (encoding_ != "learned") return;
  Numbers& d_positions = parameters_.at("positional/learned/table").gradient;
  d_positions = sum(d_positions, d_x);
}

Numbers Transformer::forward(std::size_t layer, const Numbers& x, Block& block) {
  const auto projected = [&](const Numbers& from, const std::string& name) {
    return linear(from, at(layer, name + "/weight"), at(layer, name + "/bias"));
  };
  const auto normed = [&](const Numbers& from, const std::string& name) {
    return layer_norm(from, at(layer, name + "/gain"), at(layer, name + "/shift"));
  };
  block.input = x;
  block.normed = normed(x, "attention_norm");
  block.query = projected(block.normed, "attention/query");
  block.key = projected(block.normed, "attention/key");
  block.value = projected(block.normed, "attention/value");
  if (encoding_ == "rope") {
    block.query = turned(block.query, heads_, 1);
    block.key = turned(block.key, heads_, 1);
  }
  block.attended = attention(block.query, block.key, block.value, heads_, slopes_);
  block.middle = sum(projected(block.attended.out, "attention/output"), x);
  block.middle_normed = normed(block.middle, "feed_forward_norm");
  block.inner = projected(block.middle_normed, "feed_forward/inner");
  block.activated = gelu(block.inner);
  return sum(projected(block.activated, "feed_forward/output"), block.middle);
}

Numbers Transformer::backward(std::size_t layer, const Block& block, const Numbers& d_y) {
  const auto projected = [&](const Numbers& from, const Numbers& d_to, const std::string& name) {
    return linear_backward(from, d_to, at(layer, name + "/weight"), at(layer, name + "/bias"));
  };
  const auto normed = [&](const Numbers& from, const Numbers& d_to, const std::string& name) {
    return layer_norm_backward(from, d_to, at(layer, name + "/gain"), at(layer, name + "/shift"));
  };
  const Numbers d_activated = projected(block.activated, d_y, "feed_forward/output");
  const Numbers d_inner = gelu_backward(block.inner, d_activated);
  const Numbers d_middle_normed = projected(block.middle_normed, d_inner, "feed_forward/inner");
  const Numbers d_middle = sum(normed(block.middle, d_middle_normed, "feed_forward_norm"), d_y);
  const Numbers d_attended = projected(block.attended.out, d_middle, "attention/output");
  AttentionGradients d = attention_backward(block.query, block.key, block.value, heads_,
                                            block.attended.probabilities, d_attended);
  if (encoding_ == "rope") {
    d.query = turned(d.query, heads_, -1);
    d.key = turned(d.key, heads_, -1);
  }
  const Numbers d_normed = sum(sum(projected(block.normed, d.query, "attention/query"),
                                   projected(block.normed, d.key, "attention/key")),
                               projected(block.normed, d.value, "attention/value"));
  return sum(normed(block.input, d_normed, "attention_norm"), d_middle);
}

double Transformer::learn(std::span<const std::int32_t> tokens, std::span<const std::int32_t> targets) {
  Parameter &table = parameters_.at("embedding/weight"), &gain = parameters_.at("final_norm/gain"),
            &shift = parameters_.at("final_norm/shift");
  std::vector<Block> blocks(layers_);
  Numbers x = embedded(tokens);
  for (std::size_t layer = 0; layer < layers_; ++layer) x = forward(layer, x, blocks[layer]);
  Numbers d_normed;
  const double loss = cross_entropy(layer_norm(x, gain, shift), table, targets, d_normed);
  Numbers d_x = layer_norm_backward(x, d_normed, gain, shift);
  for (std::size_t layer = layers_; layer-- > 0;) d_x = backward(layer, blocks[layer], d_x);
  embedded_backward(tokens, d_x);
  return loss;
}

}  // namespace tapeline::plain
