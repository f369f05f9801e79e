#include "data/tokenizer.h"

#include "core/error.h"
#include "data/byte_tokenizer.h"
#include "data/character_tokenizer.h"

namespace tapeline {

std::unique_ptr<Tokenizer> make_tokenizer(std::string_view kind, std::span<const std::int32_t> table) {
  if (kind == "bytes") return std::make_unique<ByteTokenizer>();
  if (kind == "chars") {
    require<ConfigError>(
        !table.empty(),
        "the tokenizer \"chars\" has no characters yet: they are those of the blocks to "
        "train on, found when training begins; give the text itself to train, not to prepare");
    return std::make_unique<CharacterTokenizer>(std::vector<std::int32_t>(table.begin(), table.end()));
  }
  fail<ConfigError>("data.tokenizer: there is no tokenizer \"{}\"; this version has \"bytes\" and \"chars\"",
                    kind);
}

}  // namespace tapeline
