#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "core/error.h"
#include "core/utf8.h"
#include "tests/train/tiny.h"
#include "train/checkpoint.h"
#include "train/evaluate.h"

/// A vocabulary that a text decided: kept whole in the checkpoint, and counted in bytes.
namespace tapeline::inline TAPELINE_PRECISION {
namespace {

// A checkpoint of an untrained model with these tokens.
std::filesystem::path saved(const TemporaryFolder& folder, const Tokenizer& tokenizer,
                            TrainingRecord record) {
  ResolvedConfig config = tiny_config();
  config.config.model.width = 2;
  config.config.model.heads = 1;
  config.config.data.tokenizer = "chars";
  config.config.data.vocabulary = tokenizer.size();
  const Transformer model(model_plan(config.config));
  save_checkpoint(folder / "step.h5", {model, nullptr, config, record});
  return folder / "step.h5";
}

TrainingRecord record_of(const Tokenizer& tokenizer) {
  return fresh_record(TokenStore::from_text("a", tokenizer, "a text", UnknownSymbols::as_token), tokenizer);
}

TEST_CASE("checkpoint: a vocabulary of 30,000 characters saves and reloads equal") {
  std::vector<std::int32_t> many;
  for (std::int32_t code = 0x4E00; many.size() < 30000; ++code) {
    if (code == 0xD800) code = 0x20000;
    many.push_back(code);
  }
  const auto tokenizer = make_tokenizer("chars", many);
  const TemporaryFolder folder;
  const Checkpoint checkpoint(saved(folder, *tokenizer, record_of(*tokenizer)));
  CHECK(checkpoint.make_tokenizer()->table() == many);
  CHECK(checkpoint.make_tokenizer()->digest() == tokenizer->digest());
}

TEST_CASE(
    "checkpoint: a vocabulary that is none, another one, or of another size is refused by the file's name") {
  const auto tokenizer = make_tokenizer("chars", std::vector<std::int32_t>{'a', 'b', 'c'});
  const TemporaryFolder folder;
  for (const std::vector<std::int32_t>& table :
       {std::vector<std::int32_t>{'b', 'a', 'c'}, {'a', 'b', 'd'}, {'a', 'b'}, {}}) {
    TrainingRecord record = record_of(*tokenizer);
    record.tokenizer_table = table;
    const Checkpoint checkpoint(saved(folder, *tokenizer, record));
    CHECK_THROWS_WITH_AS(checkpoint.make_tokenizer(), doctest::Contains("step.h5\": its tokenizer"),
                         FileError);
  }
  TrainingRecord record = record_of(*tokenizer);
  record.tokenizer_kind = "words";
  CHECK_THROWS_AS(Checkpoint(saved(folder, *tokenizer, record)).make_tokenizer(), FileError);
}

TEST_CASE("evaluate: bits per byte of characters count bytes, and what an unknown one leaves open") {
  const auto tokenizer = make_tokenizer("chars", std::vector<std::int32_t>{'a', 0xF6});
  std::string text = "a";
  for (int i = 0; i < 20; ++i) text += "\xC3\xB6";  // two bytes, one token
  text += "\xE2\x82\xAC";                           // three bytes, not known
  const TokenStore store = TokenStore::from_text(text, *tokenizer, "text", UnknownSymbols::as_token);
  ModelPlan plan = model_plan(tiny_config().config);
  plan.vocabulary = tokenizer->size();
  Transformer model(plan);
  for (Parameter& parameter : model.parameters().parameters())
    std::fill_n(parameter.mutable_value().data, parameter.shape().size(), Real{0});
  EvaluationPlan targets;
  targets.scored = scored_all({{0, store.size()}});
  const EvaluationResult result =
      evaluate_cell(model, store, *tokenizer, targets, {Protocol::nonoverlapping, 16, 16, false});
  CHECK(result.scored_tokens == 21);
  CHECK(result.scored_bytes == 43);
  // Every token of six is as likely, and the euro sign is one of all but one of its length.
  const double nats = 21 * std::log(6.0) + std::log(61440.0 - 1);
  CHECK(result.nll == doctest::Approx(nats / 21).epsilon(1e-6));
  CHECK(result.bits_per_byte == doctest::Approx(nats / std::log(2.0) / 43).epsilon(1e-6));
}

}  // namespace
}  // namespace tapeline::inline TAPELINE_PRECISION
