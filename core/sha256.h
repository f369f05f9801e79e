#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tapeline {

/// SHA-256 of bytes that arrive piece by piece.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  Sha256& update(const void* data, std::size_t bytes);
  Sha256& update(std::string_view text) { return update(text.data(), text.size()); }

  /// The digest of all bytes so far, 32 bytes or 64 lower-case hexadecimal digits. Ends the object: a further
  /// update or digest throws StateError.
  std::array<std::uint8_t, 32> digest();
  std::string hex_digest();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

/// The hexadecimal SHA-256 of `text`.
std::string sha256_hex(std::string_view text);

}  // namespace tapeline
