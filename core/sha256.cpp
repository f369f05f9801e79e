#include "core/sha256.h"

#include <openssl/evp.h>

#include "core/error.h"

namespace tapeline {

struct Sha256::Context {
  EVP_MD_CTX* evp = EVP_MD_CTX_new();
  bool ended = false;
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { EVP_MD_CTX_free(evp); }
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  require<Error>(context_->evp != nullptr && EVP_DigestInit_ex(context_->evp, EVP_sha256(), nullptr) == 1,
                 "SHA-256: libcrypto does not provide it; check the OpenSSL installation");
}

Sha256::~Sha256() = default;

Sha256& Sha256::update(const void* data, std::size_t bytes) {
  require<StateError>(!context_->ended, "SHA-256: update after the digest was taken; begin a new one");
  require<Error>(EVP_DigestUpdate(context_->evp, data, bytes) == 1, "SHA-256: libcrypto refused {} bytes",
                 bytes);
  return *this;
}

std::array<std::uint8_t, 32> Sha256::digest() {
  require<StateError>(!context_->ended, "SHA-256: the digest was taken twice; begin a new one");
  context_->ended = true;
  std::array<std::uint8_t, 32> result{};
  require<Error>(EVP_DigestFinal_ex(context_->evp, result.data(), nullptr) == 1,
                 "SHA-256: libcrypto gave no digest");
  return result;
}

std::string Sha256::hex_digest() {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(64);
  for (const std::uint8_t byte : digest()) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::string sha256_hex(std::string_view text) { return Sha256().update(text).hex_digest(); }

}  // namespace tapeline
