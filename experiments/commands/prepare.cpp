#include "experiments/commands/prepare.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/source.h"
#include "data/token_store.h"
#include "experiments/commands/common.h"
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
    // A path need not be UTF-8.
    write_output(json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } else if (!options.output.quiet) {
    write_output(fmt::format("{}: {} tokens ({}) of {} bytes of text, SHA-256 {}\n", options.file,
                             store.size(), store.tokenizer_kind(), text.size(), store.digest()));
  }
  return exit_code::done;
}

}  // namespace

void add_prepare_command(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<PrepareOptions>();
  CLI::App& command = add_command(
      app, invocation, "prepare", "text to a token store, for texts that are used again and again",
      "tapeline prepare kjv --out kjv.h5\n  tapeline prepare letters/ diary.txt --out mine.h5\n"
      "  cat *.txt | tapeline prepare - --out mine.h5",
      [options] { return prepare(*options); });
  std::string corpora;
  for (const NamedCorpus& corpus : named_corpora())
    corpora += fmt::format("{}{} ({})", corpora.empty() ? "" : "; ", corpus.name, corpus.description);
  command
      .add_option(
          "SOURCE", options->sources,
          fmt::format("files, folders, - for standard input, or corpora by name: {}; several are joined "
                      "with a newline, in this order",
                      corpora))
      ->required();
  command.add_option("--out", options->file, "the token store to write")->type_name("FILE")->required();
  command.add_option("--tokenizer", options->tokenizer, "bytes")->type_name("KIND")->capture_default_str();
  options->output.add_to(command);
}

}  // namespace tapeline
