#include "experiments/criteria/measured.h"

#include <fmt/format.h>

#include <algorithm>

namespace tapeline {
namespace {

void add_once(std::vector<std::string>& texts, const std::vector<std::string>& more) {
  for (const std::string& text : more) {
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
  }
}

/// The losses of the models of these seeds together, segment by segment; empty when a seed has none or
/// others.
std::vector<SegmentLoss> together(const Measured::Term& term, const BySeed& seeds) {
  std::vector<SegmentLoss> sum;
  for (const auto& [seed, value] : seeds) {
    const auto found = term.blocks.find(seed);
    if (found == term.blocks.end()) return {};
    const std::vector<SegmentLoss>& blocks = found->second;
    if (sum.empty()) sum.resize(blocks.size());
    if (sum.size() != blocks.size()) return {};
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      sum[b].total += blocks[b].total;
      sum[b].tokens += blocks[b].tokens;
    }
  }
  return sum;
}

}  // namespace

BootstrapInterval Measured::over_text() const {
  std::vector<std::vector<SegmentLoss>> blocks;
  std::vector<BootstrapTerm> drawn;
  for (const Term& term : terms) blocks.push_back(together(term, values));
  for (std::size_t t = 0; t < terms.size(); ++t) {
    if (blocks[t].empty() || blocks[t].size() != blocks.front().size()) return {};
    drawn.push_back({terms[t].weight, blocks[t]});
  }
  if (drawn.empty()) return {};
  return bootstrap(drawn, random_key(0, "bootstrap over tokens"));
}

Measured operator-(const Measured& a, const Measured& b) {
  Measured result;
  result.left_out = a.left_out;
  add_once(result.left_out, b.left_out);
  result.missing = a.missing.empty() ? b.missing : a.missing;
  if (!result.missing.empty()) return result;
  if (a.tokens != b.tokens) {
    result.missing = fmt::format("scored on {} and on {} targets: not the same", a.tokens, b.tokens);
    return result;
  }
  result.tokens = a.tokens;
  result.values = difference(a.values, b.values);
  if (a.terms.empty() || b.terms.empty()) return result;
  result.terms = a.terms;
  for (const Measured::Term& term : b.terms) result.terms.push_back({-term.weight, term.blocks});
  return result;
}

Measured operator+(const Measured& a, const Measured& b) { return a - (-1.0) * b; }

Measured operator*(double factor, const Measured& measured) {
  Measured result = measured;
  for (auto& [seed, value] : result.values) value *= factor;
  for (Measured::Term& term : result.terms) term.weight *= factor;
  return result;
}

Measured nothing_measured(std::string why) {
  Measured result;
  result.missing = std::move(why);
  return result;
}

}  // namespace tapeline
