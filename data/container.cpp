#include "data/container.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/excerpt.h"
#include "core/files.h"
#include "core/sha256.h"

namespace tapeline {
namespace {

constexpr std::string_view prefix = "tapeline ";
/// Files up to this size are read; larger ones are mapped.
constexpr std::size_t read_up_to = std::size_t{32} << 20;

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

}  // namespace

std::shared_ptr<const Container> Container::open(const std::filesystem::path& path, std::string_view kind) {
  std::shared_ptr<Container> container(new Container);
  container->name_ = path.string();
  container->load(path);
  container->verify(kind);
  return container;
}

void Container::load(const std::filesystem::path& path) {
  const auto fail_with_reason = [&](int reason) {
    fail<FileError>("cannot read \"{}\": {}", name_, std::strerror(reason));
  };
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) fail_with_reason(errno);
  require<FileError>(S_ISREG(status.st_mode), "cannot read \"{}\": it is not a regular file", name_);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size <= read_up_to) {
    bytes_ = read_file(path);
    body_ = {reinterpret_cast<const unsigned char*>(bytes_.data()), bytes_.size()};
    return;
  }
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) fail_with_reason(errno);
  void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (mapped == MAP_FAILED) fail_with_reason(errno);
  mapped_ = mapped;
  mapped_size_ = size;
  body_ = {static_cast<const unsigned char*>(mapped), size};
}

void Container::verify(std::string_view kind) {
  const std::string_view whole = as_text(body_);
  const std::string_view head = whole.substr(0, block_size);
  require<FileError>(head.starts_with(prefix) || (whole.size() < prefix.size() && prefix.starts_with(whole)),
                     "\"{}\" is not a tapeline {}: it does not begin with \"{}{}\"", name_, kind, prefix,
                     kind);
  require<FileError>(head.size() == block_size,
                     "\"{}\" is cut short: it has {} bytes, and the head alone has {}; take another copy",
                     name_, whole.size(), block_size);
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
  body_ = body_.subspan(block_size);
  require<FileError>(body_.size() == block->length,
                     "\"{}\" is {}: {} bytes follow its head, which says {}; take another copy", name_,
                     body_.size() < block->length ? "cut short" : "too long", body_.size(), block->length);
  Sha256 sum;
  sum.update(body_.data(), body_.size());
  digest_ = sum.hex_digest();
  require<FileError>(digest_ == block->digest,
                     "\"{}\" is damaged: its SHA-256 is {}…, its head says {}…; take another copy", name_,
                     digest_.substr(0, 12), block->digest.substr(0, 12));
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
}

Container::~Container() {
  if (mapped_ != nullptr) ::munmap(mapped_, mapped_size_);
}

}  // namespace tapeline
