#include "data/source.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/files.h"
#include "data/kjv.h"

namespace tapeline {
namespace {

namespace fs = std::filesystem;

constexpr std::array<NamedCorpus, 1> corpora = {{
    {"kjv", "the King James Bible of Debian's bible-kjv, 4.14 MB, one verse a line", read_kjv},
}};

/// Where to look for the zero byte that tells data from text.
constexpr std::size_t front = 8000;

std::string read_descriptor(int descriptor, std::string_view name) {
  std::string text;
  std::vector<char> buffer(1 << 16);
  for (;;) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail<FileError>("cannot read {}: {}", name, std::strerror(errno));
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

/// A pipe or a device: what has no size.
std::string read_stream(const std::string& path) {
  const Descriptor stream(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (stream.number() < 0) fail<FileError>("cannot read \"{}\": {}", path, std::strerror(errno));
  return read_descriptor(stream.number(), "\"" + path + "\"");
}

std::vector<fs::path> files_below(const std::string& folder) {
  std::vector<fs::path> files;
  try {
    for (auto at = fs::recursive_directory_iterator(folder); at != fs::recursive_directory_iterator(); ++at) {
      const bool hidden = at->path().filename().native().starts_with('.');
      if (hidden && at->is_directory()) at.disable_recursion_pending();
      if (!hidden && at->is_regular_file()) files.push_back(at->path());
    }
  } catch (const fs::filesystem_error& error) {
    fail<FileError>("cannot read the folder \"{}\": {}", folder, error.code().message());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string read_folder(const std::string& folder) {
  std::string text;
  bool first = true;
  for (const fs::path& path : files_below(folder)) {
    const std::string file = read_file(path);
    if (std::string_view(file).substr(0, front).find('\0') != std::string_view::npos) continue;
    if (!first) text += '\n';
    first = false;
    text += file;
  }
  require<DataError>(
      !first, "the folder \"{}\" holds no text files; hidden ones and those with zero bytes do not count",
      folder);
  return text;
}

}  // namespace

std::span<const NamedCorpus> named_corpora() { return corpora; }

const NamedCorpus* find_corpus(std::string_view name) {
  const auto found = std::find_if(corpora.begin(), corpora.end(),
                                  [&](const NamedCorpus& corpus) { return corpus.name == name; });
  return found == corpora.end() ? nullptr : &*found;
}

std::string read_source(const std::string& source) {
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
    require<DataError>(!text.starts_with("tapeline tokens\n"),
                       "\"{}\" is a token store already, not a text to prepare", source);
  }
  require<DataError>(!text.empty(), "the text of {} is empty",
                     source == "-" ? "standard input" : "\"" + source + "\"");
  return text;
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
