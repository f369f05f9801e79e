#include "data/container.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>

#include "core/error.h"
#include "core/excerpt.h"
#include "core/files.h"
#include "core/sha256.h"

namespace tapeline {
namespace {

constexpr std::string_view prefix = "tapeline ";
/// Files up to this size are read; larger ones are mapped.
constexpr std::size_t read_up_to = std::size_t{32} << 20;
/// Streamed ones are read for their digest in pieces of this size.
constexpr std::size_t digest_piece = std::size_t{1} << 20;

/// What the front of a file says.
struct Block {
  std::string kind, digest;
  std::uint64_t version = 0, length = 0;
};

std::string render(const Block& block) {
  std::string text = fmt::format("{}{}\nformat {}\nlength {}\nsha256 {}\n", prefix, block.kind, block.version,
                                 block.length, block.digest);
  require<StateError>(text.size() <= Container::block_size, "container: the kind \"{}\" is too long",
                      block.kind);
  text.resize(Container::block_size, '\0');
  return text;
}

/// Takes "label value\n" from the front of `text`; nothing if that is not there.
std::optional<std::string> take_line(std::string_view& text, std::string_view label) {
  const std::size_t end = text.find('\n');
  if (!text.starts_with(label) || end == text.npos) return std::nullopt;
  std::string value(text.substr(label.size(), end - label.size()));
  text.remove_prefix(end + 1);
  return value;
}

bool parse_number(const std::string& text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::optional<Block> parse(std::string_view text) {
  Block block;
  const auto kind = take_line(text, prefix);
  if (!kind) return std::nullopt;
  block.kind = *kind;
  const auto version = take_line(text, "format ");
  const auto length = take_line(text, "length ");
  const auto digest = take_line(text, "sha256 ");
  if (!version || !length || !digest) return std::nullopt;
  if (!parse_number(*version, block.version) || !parse_number(*length, block.length)) return std::nullopt;
  block.digest = *digest;
  return block;
}

std::string_view as_text(std::span<const unsigned char> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

[[noreturn]] void fail_reading(const std::string& name, int reason) {
  fail<FileError>("cannot read \"{}\": {}", name, std::strerror(reason));
}

/// Reads up to `bytes` bytes at `offset`; fewer only at the end of the file.
std::size_t read_at(int file, std::size_t offset, char* into, std::size_t bytes, const std::string& name) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::pread(file, into + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_reading(name, errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

}  // namespace

std::shared_ptr<const Container> Container::open(const std::filesystem::path& path, std::string_view kind,
                                                 Access access) {
  std::shared_ptr<Container> container(new Container);
  container->name_ = path.string();
  container->load(path, access);
  container->check_digest(container->check_head(kind));
  return container;
}

std::shared_ptr<const Container> Container::open_unverified(const std::filesystem::path& path,
                                                            std::string_view kind) {
  std::shared_ptr<Container> container(new Container);
  container->name_ = path.string();
  container->load(path, Access::streamed);
  container->check_head(kind);
  return container;
}

void Container::load(const std::filesystem::path& path, Access access) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) fail_reading(name_, errno);
  require<FileError>(S_ISREG(status.st_mode), "cannot read \"{}\": it is not a regular file", name_);
  const auto size = static_cast<std::size_t>(status.st_size);
  size_ = static_cast<Index>(size);
  if (access == Access::held && size <= read_up_to) {
    bytes_ = read_file(path);
    body_ = {reinterpret_cast<const unsigned char*>(bytes_.data()), bytes_.size()};
    size_ = static_cast<Index>(bytes_.size());
    return;
  }
  file_.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file_.number() < 0) fail_reading(name_, errno);
  if (access == Access::streamed) return;
  void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file_.number(), 0);
  if (mapped == MAP_FAILED) fail_reading(name_, errno);
  file_.close();
  mapped_ = mapped;
  mapped_size_ = size;
  body_ = {static_cast<const unsigned char*>(mapped), size};
}

/// Checks what stands in front and the length, and goes past the block. Returns the digest it speaks of.
std::string Container::check_head(std::string_view kind) {
  std::string head(as_text(body_).substr(0, block_size));
  if (file_.number() >= 0) {
    head.resize(block_size);
    head.resize(read_at(file_.number(), 0, head.data(), head.size(), name_));
  }
  require<FileError>(head.starts_with(prefix) || (head.size() < prefix.size() && prefix.starts_with(head)),
                     "\"{}\" is not a tapeline {}: it does not begin with \"{}{}\"", name_, kind, prefix,
                     kind);
  require<FileError>(head.size() == block_size,
                     "\"{}\" is cut short: it has {} bytes, and the head alone has {}; take another copy",
                     name_, head.size(), block_size);
  const std::optional<Block> block = parse(head);
  require<FileError>(block.has_value(), "\"{}\" is damaged: its head cannot be read; take another copy",
                     name_);
  require<FileError>(block->kind == kind,
                     "\"{}\" is a tapeline file of the kind \"{}\"; a \"{}\" was expected", name_,
                     excerpt(block->kind), kind);
  require<FileError>(block->version == format_version,
                     "\"{}\" has format version {}; this program reads version {}", name_, block->version,
                     format_version);
  require<FileError>(render(*block) == head, "\"{}\" is damaged: its head was changed; take another copy",
                     name_);
  size_ -= block_size;
  if (!body_.empty()) body_ = body_.subspan(block_size);
  require<FileError>(size_ == static_cast<Index>(block->length),
                     "\"{}\" is {}: {} bytes follow its head, which says {}; take another copy", name_,
                     static_cast<std::uint64_t>(size_) < block->length ? "cut short" : "too long", size_,
                     block->length);
  return block->digest;
}

void Container::check_digest(const std::string& expected) {
  Sha256 sum;
  if (file_.number() >= 0) {
    std::string piece(digest_piece, '\0');
    for (std::size_t done = 0; done < static_cast<std::size_t>(size_);) {
      const std::size_t wanted = std::min(piece.size(), static_cast<std::size_t>(size_) - done);
      const std::size_t got = read_at(file_.number(), block_size + done, piece.data(), wanted, name_);
      require<FileError>(got == wanted, "\"{}\" was cut short while it was read", name_);
      sum.update(piece.data(), got);
      done += got;
    }
  } else {
    sum.update(body_.data(), body_.size());
  }
  digest_ = sum.hex_digest();
  require<FileError>(digest_ == expected,
                     "\"{}\" is damaged: its SHA-256 is {}…, its head says {}…; take another copy", name_,
                     digest_.substr(0, 12), expected.substr(0, 12));
}

std::optional<std::string> Container::kind_of(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  std::string head(block_size, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), block_size);
  if (file.gcount() != block_size) return std::nullopt;
  return kind_of_bytes(head);
}

std::optional<std::string> Container::kind_of_bytes(std::string_view bytes) {
  const std::optional<Block> block = parse(bytes.substr(0, block_size));
  return block ? std::optional(block->kind) : std::nullopt;
}

void Container::write(const std::filesystem::path& path, std::string_view kind, std::string_view body) {
  const std::string block = render({std::string(kind), sha256_hex(body), format_version, body.size()});
  write_file(path, {block, body});
}

Container::Container(std::string bytes, std::string name) : name_(std::move(name)), bytes_(std::move(bytes)) {
  body_ = {reinterpret_cast<const unsigned char*>(bytes_.data()), bytes_.size()};
  size_ = static_cast<Index>(bytes_.size());
}

Container::~Container() {
  if (mapped_ != nullptr) ::munmap(mapped_, mapped_size_);
}

}  // namespace tapeline
