#include "layers/generate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "core/error.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

/// The model, the tokens so far, and the window of them that the model looks at.
class Writer {
 public:
  Writer(const Transformer& model, const Generation& request, std::span<const Token> prompt)
      : model_(model), request_(request), text_(prompt.begin(), prompt.end()) {
    const Index whole = static_cast<Index>(prompt.size()) + request.tokens;
    declared_context_ = std::min(whole, model.max_length().value_or(whole));
    logits_.resize(static_cast<std::size_t>(model.plan().vocabulary));
    if (request.cached) cache_.emplace(model.make_cache(1, std::min<Index>(declared_context_, 4096)));
  }

  Index slides() const { return slides_; }
  void add(Token token) { text_.push_back(token); }

  /// The logits of the token that comes next, valid until the next call.
  std::span<const Real> next_logits() {
    slide();
    if (!cache_) {
      run(std::span(text_).subspan(static_cast<std::size_t>(window_begin_)), nullptr, true);
      return logits_;
    }
    const Index end = static_cast<Index>(text_.size());
    for (Index at = window_begin_ + cache_->length(); at < end;) {
      const Index rows = std::min(model_.rows_a_pass(request_.prefill_chunk), end - at);
      run(std::span(text_).subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(rows)), &*cache_,
          at + rows == end);
      at += rows;
    }
    return logits_;
  }

 private:
  void slide() {
    const Index end = static_cast<Index>(text_.size());
    const std::optional<Index> longest = model_.max_length();
    if (!longest || end - window_begin_ <= *longest) return;
    window_begin_ = end - std::max<Index>(1, *longest / 2);
    ++slides_;
    if (cache_) cache_->clear();
  }

  void run(std::span<const Token> ids, KeyValueCache* cache, bool wanted) {
    Tape tape(arena_, gradients_, Recording::off);
    Pass pass(tape);
    pass.declared_context = declared_context_;
    pass.position_key = random_key(request_.sampling.seed, "positions");
    const Tensor rows = model_.hidden(pass, ids, 1, cache).value();  // [1, T, C]
    if (!wanted) return;
    const Index width = rows.shape.last();
    const Tensor last{{1, width}, rows.data + rows.size() - width};
    const Tensor logits = model_.logits(pass, tape.constant(last)).value();  // [1, V]
    std::copy_n(logits.data, logits.size(), logits_.data());
  }

  const Transformer& model_;
  const Generation& request_;
  std::vector<Token> text_;
  Index window_begin_ = 0;
  Index slides_ = 0;
  Index declared_context_ = 0;
  std::optional<KeyValueCache> cache_;
  std::vector<Real> logits_;
  Arena arena_;
  GradientPool gradients_;
};

}  // namespace

void validate(const Sampling& sampling) {
  require<ConfigError>(sampling.temperature >= 0 && std::isfinite(sampling.temperature),
                       "temperature = {}; it must be 0 (the most likely token) or more",
                       sampling.temperature);
  require<ConfigError>(sampling.top_k >= 0, "top_k = {}; it must be 0 (all tokens) or more", sampling.top_k);
  require<ConfigError>(sampling.top_p > 0 && sampling.top_p <= 1,
                       "top_p = {}; it must lie above 0 and not above 1", sampling.top_p);
}

Token sample(std::span<const Real> logits, const Sampling& sampling, Index draw) {
  for (std::size_t token = 0; token < logits.size(); ++token) {
    require<NumericError>(
        !std::isnan(logits[token]) && logits[token] != std::numeric_limits<Real>::infinity(),
        "sampling: the logit of token {} is {}; the model's weights are damaged", token, logits[token]);
  }
  const auto best = std::max_element(logits.begin(), logits.end());
  if (sampling.temperature == 0 || sampling.top_k == 1) return static_cast<Token>(best - logits.begin());

  std::vector<Token> order(logits.size());
  std::iota(order.begin(), order.end(), Token{0});
  const auto logit = [&logits](Token token) { return logits[static_cast<std::size_t>(token)]; };
  std::stable_sort(order.begin(), order.end(), [&](Token a, Token b) { return logit(a) > logit(b); });
  if (sampling.top_k > 0 && sampling.top_k < static_cast<Index>(order.size())) {
    order.resize(static_cast<std::size_t>(sampling.top_k));
  }
  std::vector<double> weights;
  double total = 0;
  for (const Token token : order) {
    weights.push_back(
        std::exp((static_cast<double>(logit(token)) - static_cast<double>(*best)) / sampling.temperature));
    total += weights.back();
  }
  double kept = 0;
  std::size_t count = 0;
  while (count < weights.size() && (count == 0 || kept < sampling.top_p * total)) kept += weights[count++];

  double left =
      kept * random_uniform(random_key(sampling.seed, "sampling"), static_cast<std::uint64_t>(draw));
  for (std::size_t i = 0; i + 1 < count; ++i) {
    left -= weights[i];
    if (left < 0) return order[i];
  }
  return order[count - 1];
}

Generated generate(const Transformer& model, std::span<const Token> prompt, const Generation& request,
                   const std::function<bool(Token)>& on_token) {
  validate(request.sampling);
  require<ConfigError>(request.tokens >= 0, "{} tokens to generate; 0 or more are expected", request.tokens);
  require<ConfigError>(request.prefill_chunk >= 1, "prefill in chunks of {} rows; at least 1 is needed",
                       request.prefill_chunk);
  require<DataError>(!prompt.empty(), "the prompt is empty; generation starts from at least one token");
  Writer writer(model, request, prompt);
  Generated result;
  for (Index number = 0; number < request.tokens; ++number) {
    const Token token = sample(writer.next_logits(), request.sampling, number);
    result.tokens.push_back(token);
    writer.add(token);
    if (on_token && !on_token(token)) break;
  }
  result.slides = writer.slides();
  return result;
}

}  // namespace tapeline::inline TAPELINE_PRECISION
