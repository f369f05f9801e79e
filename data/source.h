#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tapeline {

/// A text known by name.
struct NamedCorpus {
  std::string_view name, description;
  std::string (*read)();
};
std::span<const NamedCorpus> named_corpora();
/// The one of that name, or nullptr.
const NamedCorpus* find_corpus(std::string_view name);

/// The text of a source, its bytes as they are:
/// - a named corpus ("./kjv" is a file of that name);
/// - "-": standard input, to its end;
/// - a folder: all text files in it and below, in the order of their paths, joined with a newline; hidden
///   files and folders, links to folders, and files with a zero byte near the front are left out, a link
///   that leads nowhere is an error;
/// - any other path: that file, device or pipe, to its end.
/// Throws FileError for what cannot be read, DataError for an empty text, a checkpoint, a token store or
/// another HDF5 file; warns of zero bytes.
std::string read_source(const std::string& source);

/// Several sources, in this order, joined with a newline.
std::string read_sources(std::span<const std::string> sources);

}  // namespace tapeline
