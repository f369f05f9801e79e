#include "experiments/commands/prepare.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/counted.h"
#include "core/error.h"
#include "core/excerpt.h"
#include "data/source.h"
#include "data/token_store.h"
#include "experiments/commands/common.h"
#include "experiments/exit_code.h"
#include "experiments/output.h"

namespace tapeline {
namespace {

struct PrepareOptions {
  std::vector<std::string> sources;
  std::string file;
  std::string tokenizer = "bytes";
  OutputOptions output;
};

int prepare(const PrepareOptions& options) {
  options.output.set_up();
  require<ConfigError>(!std::filesystem::is_regular_file(options.file) || TokenStore::is_store(options.file),
                       "--out \"{}\" is there already and is no token store; give another name, or remove it",
                       excerpt(options.file));
  const std::unique_ptr<Tokenizer> tokenizer = make_tokenizer(options.tokenizer);
  const std::string text = read_sources(options.sources);
  const TokenStore store =
      TokenStore::from_text(text, *tokenizer, fmt::format("{}", fmt::join(options.sources, " ")));
  store.save(options.file);
  if (options.output.json) {
    const nlohmann::ordered_json json = {{"path", options.file},
                                         {"source", store.source()},
                                         {"tokenizer", store.tokenizer_kind()},
                                         {"vocabulary", store.vocabulary()},
                                         {"tokens", store.size()},
                                         {"bytes", text.size()},
                                         {"digest", store.digest()}};
    write_output(printed_json(json));
  } else if (!options.output.quiet) {
    write_output(fmt::format("{}: {} ({}) of {} of text, SHA-256 {}\n", options.file,
                             counted(store.size(), "token"), store.tokenizer_kind(),
                             counted(text.size(), "byte"), store.digest()));
  }
  return exit_code::done;
}

}  // namespace

Command prepare_command() {
  const auto options = std::make_shared<PrepareOptions>();
  std::string corpora;
  std::vector<std::string> names;
  for (const NamedCorpus& corpus : named_corpora()) {
    corpora += fmt::format("{}{} ({})", corpora.empty() ? "" : "; ", corpus.name, corpus.description);
    names.emplace_back(corpus.name);
  }
  Command command{
      .name = "prepare",
      .description = "text to a token store, for texts that are used again and again",
      .examples = {"tapeline prepare kjv --out kjv.h5", "tapeline prepare letters/ diary.txt --out mine.h5",
                   "cat *.txt | tapeline prepare - --out mine.h5"},
      .run = [options] { return prepare(*options); }};
  command.options = {
      {.name = "SOURCE",
       .help = fmt::format("files, folders, - for standard input, or corpora by name: {}; several are joined "
                           "with a newline, in this order",
                           corpora),
       .target = &options->sources,
       .required = true,
       .offers = names,
       .path = Option::Path::file},
      {.name = "--out",
       .value = "FILE",
       .help = "the token store to write",
       .target = &options->file,
       .required = true,
       .path = Option::Path::file},
      {.name = "--tokenizer",
       .value = "KIND",
       .help = "bytes: 256 of them, the only kind that is the same for every text",
       .target = &options->tokenizer,
       .offers = {"bytes"}},
  };
  command.details = {
      "Other commands take a text as it is and keep its tokens by themselves; a token store is for texts "
      "that come from a pipe or that many runs share on several machines. It can be given wherever a text "
      "can."};
  options->output.add_to(command);
  return command;
}

}  // namespace tapeline
