#include "layers/generate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "core/error.h"

namespace tapeline::inline TAPELINE_PRECISION {

namespace {

/// The model, the tokens so far of every text, and the window of them that the model looks at. All texts are
/// of one length, so they share the window.
class Writer {
 public:
  Writer(const Transformer& model, const Generation& request, std::span<const Token> prompt, Index texts)
      : model_(model),
        request_(request),
        texts_(static_cast<std::size_t>(texts), {prompt.begin(), prompt.end()}) {
    const Index whole = static_cast<Index>(prompt.size()) + request.tokens;
    declared_context_ = std::min(whole, model.max_length().value_or(whole));
    logits_.resize(static_cast<std::size_t>(texts * model.plan().vocabulary));
    // Up to the first token the texts are one.
    if (request.cached) cache_.emplace(model.make_cache(1, std::min<Index>(declared_context_, 4096)));
  }

  Index slides() const { return slides_; }
  std::size_t cache_bytes() const { return cache_ ? cache_->bytes() : 0; }
  /// The next token of a text; every text gets one before the next logits.
  void add(Index text, Token token) { texts_[static_cast<std::size_t>(text)].push_back(token); }
  Token last(Index text) const { return texts_[static_cast<std::size_t>(text)].back(); }

  /// The logits of the token that comes next in this text, valid until the next run().
  std::span<const Real> logits(Index text) const {
    const auto vocabulary = static_cast<std::size_t>(model_.plan().vocabulary);
    return std::span(logits_).subspan(static_cast<std::size_t>(text) * vocabulary, vocabulary);
  }

  /// Makes the logits of all texts.
  void run() {
    slide();
    const Index end = static_cast<Index>(texts_.front().size());
    if (!cache_) {
      run(window_begin_, end - window_begin_, count(), nullptr, true);
      return;
    }
    const bool one = cache_->batch() < count();
    for (Index at = window_begin_ + cache_->length(); at < end;) {
      const Index rows = std::min(model_.rows_a_pass(request_.prefill_chunk), end - at);
      run(at, rows, cache_->batch(), &*cache_, at + rows == end);
      at += rows;
      if (request_.after_chunk && at < end) request_.after_chunk();
    }
    if (one) {
      cache_->repeat(count());
      const auto vocabulary = static_cast<std::size_t>(model_.plan().vocabulary);
      for (std::size_t to = vocabulary; to < logits_.size(); to += vocabulary) {
        std::copy_n(logits_.begin(), vocabulary, logits_.begin() + static_cast<std::ptrdiff_t>(to));
      }
    }
  }

 private:
  Index count() const { return static_cast<Index>(texts_.size()); }

  void slide() {
    const Index end = static_cast<Index>(texts_.front().size());
    const std::optional<Index> longest = model_.max_length();
    if (!longest || end - window_begin_ <= *longest) return;
    window_begin_ = end - std::max<Index>(1, *longest / 2);
    ++slides_;
    if (cache_) cache_->clear();
  }

  /// Rows [at, at + rows) of the first `batch` texts.
  void run(Index at, Index rows, Index batch, KeyValueCache* cache, bool wanted) {
    ids_.clear();
    for (Index text = 0; text < batch; ++text) {
      const auto from = texts_[static_cast<std::size_t>(text)].begin() + at;
      ids_.insert(ids_.end(), from, from + rows);
    }
    Tape tape(arena_, gradients_, Recording::off);
    Pass pass(tape);
    pass.declared_context = declared_context_;
    pass.position_key = random_key(request_.sampling.seed, "positions");
    const Tensor hidden = model_.hidden(pass, ids_, batch, cache).value();  // [B, T, C]
    if (!wanted) return;
    const Index width = hidden.shape.last();
    Tensor last = hidden.reshaped({batch * rows, width});
    if (rows > 1) {
      last = tape.allocate({batch, width});
      for (Index text = 0; text < batch; ++text) {
        std::copy_n(hidden.data + ((text + 1) * rows - 1) * width, width, last.data + text * width);
      }
    }
    const Tensor logits = model_.logits(pass, tape.constant(last)).value();  // [B, V]
    std::copy_n(logits.data, logits.size(), logits_.data());
  }

  const Transformer& model_;
  const Generation& request_;
  std::vector<std::vector<Token>> texts_;
  std::vector<Token> ids_;  // of a run
  Index window_begin_ = 0;
  Index slides_ = 0;
  Index declared_context_ = 0;
  std::optional<KeyValueCache> cache_;
  std::vector<Real> logits_;  // [texts, V]
  Arena arena_;
  GradientPool gradients_;
};

RandomKey draws_of(const Sampling& sampling) {
  const RandomKey key = random_key(sampling.seed, "sampling");
  return sampling.text == 0 ? key : key.child(static_cast<std::uint64_t>(sampling.text));
}

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

  double left = kept * random_uniform(draws_of(sampling), static_cast<std::uint64_t>(draw));
  for (std::size_t i = 0; i + 1 < count; ++i) {
    left -= weights[i];
    if (left < 0) return order[i];
  }
  return order[count - 1];
}

Generated generate(const Transformer& model, std::span<const Token> prompt, const Generation& request,
                   const std::function<bool(Token)>& on_token) {
  GeneratedTexts made = generate_texts(
      model, prompt, request, 1, [&on_token](Index, Token token) { return !on_token || on_token(token); });
  return {std::move(made.texts.front()), made.slides, made.cache_bytes};
}

GeneratedTexts generate_texts(const Transformer& model, std::span<const Token> prompt,
                              const Generation& request, Index count,
                              const std::function<bool(Index text, Token token)>& on_token) {
  validate(request.sampling);
  require<ConfigError>(request.tokens >= 0, "{} tokens to generate; 0 or more are expected", request.tokens);
  require<ConfigError>(request.prefill_chunk >= 1, "prefill in chunks of {} rows; at least 1 is needed",
                       request.prefill_chunk);
  require<ConfigError>(count >= 1, "{} texts to generate; at least 1 is expected", count);
  require<DataError>(!prompt.empty(), "the prompt is empty; generation starts from at least one token");
  Writer writer(model, request, prompt, count);
  GeneratedTexts result;
  result.texts.resize(static_cast<std::size_t>(count));
  std::vector<bool> ended(static_cast<std::size_t>(count), false);
  Index going_on = count;
  for (Index number = 0; number < request.tokens && going_on > 0; ++number) {
    writer.run();
    for (Index text = 0; text < count; ++text) {
      const auto place = static_cast<std::size_t>(text);
      if (ended[place]) {  // its row of the batch is there all the same
        writer.add(text, writer.last(text));
        continue;
      }
      Sampling sampling = request.sampling;
      sampling.text += text;
      const Token token = sample(writer.logits(text), sampling, number);
      result.texts[place].push_back(token);
      writer.add(text, token);
      if (!on_token || on_token(text, token)) continue;
      ended[place] = true;
      --going_on;
    }
  }
  result.slides = writer.slides();
  result.cache_bytes = writer.cache_bytes();
  return result;
}

}  // namespace tapeline::inline TAPELINE_PRECISION
