#pragma once

#include <map>
#include <string>

#include "tests/support/plain_parts.h"

namespace tapeline::plain {

/// By name, as a checkpoint names them: "blocks/0/attention/query/weight".
using Parameters = std::map<std::string, Parameter>;

/// A decoder-only Transformer from the plain parts, with layer norms, gelu, biases and the token table as its
/// head:
///   x = table[token];  in every block  x' = x + attention(norm(x)),  y = x' + feed_forward(norm(x'));
///   loss = cross_entropy(norm(y), table).
/// Encodings: "none"; "learned", x_t + E[t]; "alibi", slopes 2^(-8h/H) for h = 1 ... H, H a power of two;
/// "rope", queries and keys turned.
class Transformer {
 public:
  /// The widths are those of the parameters.
  Transformer(std::size_t layers, std::size_t heads, std::string encoding, Parameters parameters);

  /// The loss of one window, summed over its rows, in nats; its gradients are added to the parameters'.
  double learn(std::span<const std::int32_t> tokens, std::span<const std::int32_t> targets);

  Parameters& parameters() { return parameters_; }

 private:
  /// What the backward of a block needs of its forward: rows [T, C], inner ones [T, F].
  struct Block {
    Numbers input, normed, query, key, value;
    Attended attended;
    Numbers middle, middle_normed, inner, activated;
  };

  Parameter& at(std::size_t layer, const std::string& name);
  Numbers embedded(std::span<const std::int32_t> tokens) const;
  void embedded_backward(std::span<const std::int32_t> tokens, const Numbers& d_x);
  Numbers forward(std::size_t layer, const Numbers& x, Block& block);
  Numbers backward(std::size_t layer, const Block& block, const Numbers& d_y);

  std::size_t layers_;
  Heads heads_;
  std::string encoding_;
  Numbers slopes_;
  Parameters parameters_;
};

}  // namespace tapeline::plain
