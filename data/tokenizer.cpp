#include "data/tokenizer.h"

#include "core/error.h"
#include "data/byte_tokenizer.h"

namespace tapeline {

std::unique_ptr<Tokenizer> make_tokenizer(std::string_view kind) {
  if (kind == "bytes") return std::make_unique<ByteTokenizer>();
  fail<ConfigError>("data.tokenizer: there is no tokenizer \"{}\"; this version has \"bytes\"", kind);
}

}  // namespace tapeline
