#include "experiments/inspect/summary_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/counted.h"
#include "experiments/inspect/drawing.h"
#include "experiments/inspect/tree_text.h"
#include "experiments/report/tables.h"
#include "experiments/table.h"
#include "layers/positional/kinds_of_build.h"
#include "train/checkpoint_layout.h"

namespace tapeline {
namespace {

/// Labelled lines, the long ones broken.
class Lines {
 public:
  explicit Lines(std::size_t width) : room_(width == 0 ? 0 : std::max<std::size_t>(width, 40) - margin) {}
  void add(std::string_view label, const std::string& value) {
    if (!value.empty()) text_ += hanging(fmt::format("  {:<{}}", label, margin - 2), margin, value, room_);
  }
  const std::string& text() const { return text_; }

 private:
  static constexpr std::size_t margin = 14;
  std::size_t room_;
  std::string text_;
};

/// Takes values out of the state, and remembers which were not taken.
class State {
 public:
  explicit State(const Listing& listing) : listing_(listing) {}
  /// `format` with the value in place of {}; empty when the file has none.
  std::string take(const std::string& path, std::string_view format = "{}") {
    taken_.insert(path);
    std::string value = shortened(listing_.value(path));
    return value.empty() ? value : fmt::format(fmt::runtime(format), value);
  }
  Attributes rest() const {
    Attributes left;
    for (const auto& one : listing_.state) {
      if (!taken_.contains(one.first)) left.push_back(one);
    }
    return left;
  }
  /// One line of at most 80 letters, nothing that a terminal would obey.
  static std::string shortened(std::string text) {
    for (char& c : text) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
    }
    if (text.size() <= 80) return text;
    std::size_t end = 80;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    return text.substr(0, end) + "…";
  }

 private:
  const Listing& listing_;
  std::set<std::string> taken_;
};

std::string digest_text(const std::string& digest) {
  return digest.empty() ? digest : digest.substr(0, 12) + "…";
}

/// Those that are not empty, between commas.
std::string comma_list(std::vector<std::string> parts) {
  std::erase(parts, std::string());
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string root_value(const Listing& listing, std::string_view name) {
  for (const auto& [found, value] : listing.root) {
    if (found == name) return State::shortened(attribute_text(value));
  }
  return {};
}

/// What the program that wrote the file was built with, as told by itself.
std::string kinds_text(const Listing& listing) {
  const std::string all = fmt::format("{}", fmt::join(built_kinds(), ", "));
  for (const auto& [found, value] : listing.root) {
    if (found != checkpoint_layout::creator_kinds) continue;
    const std::string kinds = attribute_text(value);
    if (kinds == all && left_out_kinds().empty()) {
      return built_kinds().size() == 1 ? fmt::format(" with {} alone", all)
                                       : fmt::format(" with all {} encodings", built_kinds().size());
    }
    return fmt::format(" with the encodings {}", State::shortened(kinds));
  }
  return {};
}

std::string format_text(const Listing& listing) {
  const std::string version = root_value(listing, "format_version");
  const bool known = version == fmt::format("{}", checkpoint_layout::version);
  return fmt::format("{} {}{}, written by version {}{}", root_value(listing, "format"), version,
                     known ? "" : fmt::format(" (this program knows {})", checkpoint_layout::version),
                     root_value(listing, "creator_version"), kinds_text(listing));
}

std::string config_text(const Listing& listing, std::string_view name) {
  const StoredKey* key = find_stored(listing.config, name);
  return key == nullptr ? "?" : key->plain;
}

std::string parameters_text(const Listing& listing) {
  std::set<std::string> types;
  for (const ListedDataset& tensor : listing.model) {
    if (tensor.is_tensor()) types.insert(type_text(tensor.shape));
  }
  return fmt::format("{} in {} of {}, {}", number_text(count_numbers(listing.model)),
                     counted(listing.model.size(), "tensor"), fmt::join(types, ", "),
                     size_text(count_bytes(listing.model)));
}

std::string optimizer_text(const Listing& listing) {
  if (listing.optimizer.empty() && listing.optimizer_state.empty()) return "none: weights only";
  std::string kind, rest;
  for (const auto& [name, value] : listing.optimizer_state) {
    if (name == "kind")
      kind = attribute_text(value);
    else
      rest += fmt::format(", {} {}", name, attribute_text(value));
  }
  std::set<std::string> slots;
  for (const ListedDataset& one : listing.optimizer) slots.insert(one.name.substr(one.name.rfind('/') + 1));
  return fmt::format("{}{}; {} for each parameter, {}", kind, rest, fmt::join(slots, " and "),
                     size_text(count_bytes(listing.optimizer)));
}

std::string ties_text(const Listing& listing) {
  std::vector<std::string> ties;
  for (const ListedDataset& tensor : listing.model) {
    const std::string tied = tensor.label("tied_to");
    if (!tied.empty()) ties.push_back(fmt::format("{} is also {}", tensor.name, tied));
  }
  return fmt::format("{}", fmt::join(ties, ", "));
}

std::string config_section(const Listing& listing, bool whole, std::size_t width) {
  if (!listing.config_trouble.empty())
    return fmt::format("\nConfig: cannot be shown: {}\n", listing.config_trouble);
  Table table;
  table.column("config", Table::Align::left)
      .column("value", Table::Align::left)
      .column("origin", Table::Align::left);
  std::size_t hidden = 0;
  for (const StoredKey& key : listing.config) {
    if (whole || key.origin != "default")
      table.row({key.name, key.text, key.origin});
    else
      ++hidden;
  }
  std::string text = fmt::format("\n{}", table.text(width));
  if (hidden > 0) text += fmt::format("{} more have their defaults (--all shows them)\n", hidden);
  return text;
}

std::string losses_section(std::string_view title, const std::vector<HistoryEntry>& entries,
                           std::size_t width) {
  if (entries.empty()) return {};
  const auto point = [](const HistoryEntry& entry) {
    return fmt::format("{} at step {}", short_value(entry.value), entry.step);
  };
  std::vector<std::string> facts = {point(entries.front())};
  if (entries.size() > 1) {
    if (const HistoryEntry* best = best_entry(entries))
      facts.push_back(fmt::format("lowest {}", point(*best)));
    facts.push_back(fmt::format("last {}", point(entries.back())));
  }
  std::vector<double> values;
  for (const HistoryEntry& entry : entries) values.push_back(entry.value);
  return fmt::format("\n{}, nats a token: {}\n{}", title, fmt::join(facts, ", "),
                     curve(values, width == 0 ? 80 : std::min<std::size_t>(width, 100), 5));
}

/// The encoding, and what wraps it.
std::string positions_text(const Listing& listing) {
  const auto set = [&](std::string_view key, std::string_view nothing) {
    const std::string text = config_text(listing, key);
    return text == nothing ? std::string() : text;  // files of earlier versions lack the key
  };
  const std::string pattern = set("positional.layers.pattern", "[]");
  std::string text =
      pattern.empty() ? config_text(listing, "positional.kind") : fmt::format("{} over the layers", pattern);
  text += fmt::format(", trained at length {}", config_text(listing, "train.length"));
  const std::string scaling = set("positional.rope.scaling", "none");
  if (!scaling.empty() && text.find("rope") != std::string::npos)
    text += fmt::format(", scaled by {}, factor {}", scaling, config_text(listing, "positional.rope.factor"));
  const std::string maximum = set("positional.randomized.maximum", "0");
  if (!maximum.empty()) text += fmt::format(", at positions drawn below {}", maximum);
  const std::string window = set("positional.keys.window", "0"), sinks = set("positional.keys.sinks", "0");
  if (!window.empty()) text += fmt::format(", window {}", window);
  if (!window.empty() && !sinks.empty()) text += fmt::format(" and {} sinks", sinks);
  const std::string scale = set("positional.score.scale", "none");
  if (!scale.empty()) text += fmt::format(", scores scaled by {}", scale);
  return text;
}

}  // namespace

std::string summary_text(const Listing& listing, bool whole, std::size_t width) {
  State state(listing);
  Lines lines(width);
  lines.add("format", format_text(listing));
  lines.add("file", fmt::format("{}, SHA-256 {} as its head says", size_text(listing.bytes),
                                digest_text(listing.sha256)));
  lines.add("positions", positions_text(listing));
  lines.add("parameters", parameters_text(listing));
  lines.add("tied", ties_text(listing));
  lines.add("step", comma_list({state.take("/schedule/step") + state.take("/schedule/steps", " of {}"),
                                state.take("/schedule/skipped", "{} skipped"),
                                state.take("/data/cursor/epoch", "epoch {}"),
                                state.take("/data/cursor/index", "next window {}")}));
  lines.add("schedule", comma_list({state.take("/schedule/kind"), state.take("/schedule/peak", "peak {}"),
                                    state.take("/schedule/floor", "floor {}"),
                                    state.take("/schedule/warmup_steps", "warm-up steps {}")}));
  lines.add("optimizer", optimizer_text(listing));
  state.take("/rng/step");  // the same as the schedule's
  lines.add("random",
            comma_list({state.take("/rng/seed", "seed {}"), state.take("/rng/threads", "threads {}")}));
  const std::string corpus = digest_text(state.take("/data/corpus_digest"));
  lines.add("text", comma_list({state.take("/data/corpus_source"),
                                corpus.empty() ? corpus : fmt::format("digest {}", corpus)}));
  const std::string tokens = digest_text(state.take("/tokenizer/digest"));
  lines.add("tokenizer", comma_list({state.take("/tokenizer/kind"),
                                     tokens.empty() ? tokens : fmt::format("digest {}", tokens)}));
  state.take("/data/tokenizer_digest");  // the same as the tokenizer's
  for (const auto& [path, value] : state.rest()) {
    lines.add("other", fmt::format("{} = {}", path, State::shortened(attribute_text(value))));
  }
  return lines.text() + config_section(listing, whole, width) +
         losses_section("Training loss", listing.losses, width) +
         losses_section("Validation loss", listing.validation_losses, width);
}

}  // namespace tapeline
