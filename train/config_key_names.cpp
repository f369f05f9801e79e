#include <algorithm>

#include "train/config_table.h"
#include "train/nearest_name.h"

namespace tapeline {

namespace {

/// What other programs call some of these keys, often nothing like ours.
struct OtherName {
  std::string_view name, key;
};
constexpr OtherName other_names[] = {{"learning_rate", "optimizer.lr"},
                                     {"max_lr", "optimizer.lr"},
                                     {"grad_clip", "optimizer.clip"},
                                     {"max_grad_norm", "optimizer.clip"},
                                     {"block_size", "train.length"},
                                     {"context_length", "train.length"},
                                     {"sequence_length", "train.length"},
                                     {"max_seq_len", "train.length"},
                                     {"batch_size", "train.tokens_per_step"},
                                     {"gradient_accumulation_steps", "train.micro_batch"},
                                     {"max_iters", "train.steps"},
                                     {"max_steps", "train.steps"},
                                     {"epochs", "train.steps"},
                                     {"n_layer", "model.layers"},
                                     {"num_layers", "model.layers"},
                                     {"n_head", "model.heads"},
                                     {"num_heads", "model.heads"},
                                     {"n_embd", "model.width"},
                                     {"d_model", "model.width"},
                                     {"hidden_size", "model.width"},
                                     {"d_ff", "model.feed_forward_width"},
                                     {"vocab_size", "data.vocabulary"},
                                     {"text", "data.source"},
                                     {"corpus", "data.source"},
                                     {"dataset", "data.source"},
                                     {"warmup_steps", "schedule.warmup"},
                                     {"warmup_iters", "schedule.warmup"}};

std::string_view last_part(std::string_view whole) { return whole.substr(whole.rfind('.') + 1); }

/// The key that another program's name (one letter wrong or left out at most, of a short one none) stands
/// for; empty: none.
std::string_view key_of_other_name(std::string_view name) {
  for (const OtherName& other : other_names) {
    const std::size_t wrong = other.name.size() < 5 ? 0 : 1;
    if (edit_distance(last_part(name), other.name) <= wrong) return other.key;
  }
  return {};
}

}  // namespace

std::string nearest_config_key(std::string_view name) {
  std::size_t best = std::max<std::size_t>(2, name.size() / 3) + 1;
  std::size_t best_whole = 0;  // of two as near, the one that is nearer as a whole
  std::string nearest;
  if (name.size() > 200) return nearest;  // no key is a fifth as long
  if (const std::string_view key = key_of_other_name(name); !key.empty()) return std::string(key);
  for (const ConfigKey& key : config_keys()) {
    const std::size_t whole = edit_distance(name, key.name);
    std::size_t distance = whole;
    // The right key of a wrong section counts as one mistake.
    const std::size_t of_last = edit_distance(last_part(name), last_part(key.name));
    if (of_last <= last_part(name).size() / 3) distance = std::min(distance, of_last + 1);
    if (distance < best || (distance == best && !nearest.empty() && whole < best_whole)) {
      best = distance;
      best_whole = whole;
      nearest = key.name;
    }
  }
  return nearest;
}

}  // namespace tapeline
