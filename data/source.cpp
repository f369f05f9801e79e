#include "data/source.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <optional>
#include <vector>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/excerpt.h"
#include "core/files.h"
#include "core/memory.h"
#include "data/container.h"
#include "data/kjv.h"

namespace tapeline {
namespace {

namespace fs = std::filesystem;

constexpr std::array<NamedCorpus, 1> corpora = {{
    {"kjv", "the King James Bible of Debian's bible-kjv, 4.14 MB, one verse a line", read_kjv},
}};

/// Where to look for the zero byte that tells data from text.
constexpr std::size_t front = 8000;
/// HDF5 files may have a block of another format in front; ours do, and so have those of other programs.
constexpr std::size_t user_block = 512;

std::string read_descriptor(int descriptor, std::string_view name) {
  std::string text;
  if (!read_all(descriptor, text)) fail<FileError>("cannot read {}: {}", name, std::strerror(errno));
  return text;
}

/// A pipe or a device: what has no size.
std::string read_stream(const std::string& path) {
  const Descriptor stream(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (stream.number() < 0) fail<FileError>("cannot read \"{}\": {}", path, std::strerror(errno));
  return read_descriptor(stream.number(), "\"" + path + "\"");
}

/// What a folder holds at `path`, links followed; throws for a link that leads nowhere.
fs::file_type type_of(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  require<FileError>(status.type() != fs::file_type::not_found,
                     "cannot read \"{}\": it is a link that leads to no file; mend it, or take it out of the "
                     "folder",
                     path.string());
  require<FileError>(fs::status_known(status), "cannot read \"{}\": {}", path.string(), error.message());
  return status.type();
}

std::vector<fs::path> files_below(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  auto at = fs::recursive_directory_iterator(folder, error);
  fs::path last = folder;
  while (!error && at != fs::recursive_directory_iterator()) {
    last = at->path();
    const bool hidden = last.filename().native().starts_with('.');
    if (hidden) {
      at.disable_recursion_pending();
    } else if (type_of(last) == fs::file_type::regular) {
      files.push_back(last);
    }
    at.increment(error);
  }
  if (error) fail<FileError>("cannot read the folder \"{}\": {}", last.string(), error.message());
  std::sort(files.begin(), files.end());
  return files;
}

bool has_zero_byte(std::string_view text) { return text.substr(0, front).find('\0') != text.npos; }

std::string read_folder(const std::string& folder) {
  std::string text;
  bool first = true;
  for (const fs::path& path : files_below(folder)) {
    const std::string file = read_file(path);
    if (has_zero_byte(file)) {
      spdlog::debug("\"{}\" is left out: it has zero bytes, so it is no text", path.string());
      continue;
    }
    if (!first) text += '\n';
    first = false;
    text += file;
  }
  require<DataError>(
      !first, "the folder \"{}\" holds no text files; hidden ones and those with zero bytes do not count",
      folder);
  return text;
}

/// What was meant to be named elsewhere is no text: a checkpoint, a token store, any HDF5 file. Other data
/// may be what somebody wants to model, so a doubt is only told.
void check_text(std::string_view text, const std::string& name) {
  constexpr std::string_view hdf5 = "\x89HDF\r\n\x1a\n";
  const std::optional<std::string> kind = Container::kind_of_bytes(text);
  require<DataError>(kind != "tokens", "{} is a token store already, not a text to prepare", name);
  require<DataError>(!kind, "{} is a tapeline {}, not a text; give the text itself", name,
                     excerpt(kind.value_or("")));
  require<DataError>(
      !text.starts_with(hdf5) && !text.substr(std::min(text.size(), user_block)).starts_with(hdf5),
      "{} is an HDF5 file, such as checkpoints are, not a text; give the text itself", name);
  if (has_zero_byte(text))
    spdlog::warn("{} has zero bytes: is it a text? its bytes are taken as they are", name);
}

}  // namespace

std::span<const NamedCorpus> named_corpora() { return corpora; }

const NamedCorpus* find_corpus(std::string_view name) {
  const auto found = std::find_if(corpora.begin(), corpora.end(),
                                  [&](const NamedCorpus& corpus) { return corpus.name == name; });
  return found == corpora.end() ? nullptr : &*found;
}

namespace {

std::string read_whole(const std::string& source) {
  std::string text;
  std::error_code error;
  const fs::file_status status = fs::status(source, error);
  if (const NamedCorpus* corpus = find_corpus(source)) {
    text = corpus->read();
  } else if (source == "-") {
    text = read_descriptor(STDIN_FILENO, "standard input");
  } else if (status.type() == fs::file_type::not_found) {
    std::vector<std::string_view> names;
    for (const NamedCorpus& known : corpora) names.push_back(known.name);
    fail<FileError>(
        "there is no text \"{}\": no such file or folder; give a file, a folder, \"-\" for standard "
        "input, or a corpus by name ({})",
        source, fmt::join(names, ", "));
  } else if (!fs::status_known(status)) {
    fail<FileError>("cannot read \"{}\": {}", source, error.message());
  } else if (fs::is_directory(status)) {
    text = read_folder(source);
  } else {
    text = fs::is_regular_file(status) ? read_file(source) : read_stream(source);
  }
  const std::string name = source == "-" ? "standard input" : fmt::format("\"{}\"", source);
  require<DataError>(!text.empty(), "the text of {} is empty", name);
  check_text(text, name);
  return text;
}

}  // namespace

std::string read_source(const std::string& source) {
  try {
    return read_whole(source);
  } catch (const std::bad_alloc&) {
    std::error_code error;
    const std::uintmax_t bytes = fs::file_size(source, error);
    fail_memory(fmt::format("the text \"{}\"", source), error ? 0 : bytes);
  }
}

std::string read_sources(std::span<const std::string> sources) {
  std::string text;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (i > 0) text += '\n';
    text += read_source(sources[i]);
  }
  return text;
}

}  // namespace tapeline
