#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "data/container.h"
#include "data/hdf5_types.h"
#include "data/slab.h"

namespace tapeline {

/// Reads an HDF5 file that Hdf5Writer built, from its verified bytes or, streamed, from the verified file:
/// HDF5 takes no lock, follows no link out of the file and loads no plugin. Every failure, a missing name and
/// a wrong type included, is a FileError of one line that names the file and the dataset.
class Hdf5Reader {
 public:
  /// Opens a file of ours: `kind` is what stands at its front, "checkpoint" or "tokens".
  static Hdf5Reader open(const std::filesystem::path& path, std::string_view kind,
                         Container::Access access = Container::Access::held);
  /// Reads a container that is open.
  explicit Hdf5Reader(std::shared_ptr<const Container> container);
  /// Reads what Hdf5Writer::finish() gave; `name` stands in messages.
  static Hdf5Reader from_bytes(std::string bytes, std::string name);
  Hdf5Reader(Hdf5Reader&&) noexcept;
  Hdf5Reader& operator=(Hdf5Reader&&) noexcept;
  ~Hdf5Reader();

  /// The file, as messages name it.
  const std::string& name() const;
  bool contains(std::string_view path) const;
  bool is_group(std::string_view path) const;
  /// What a group holds, in the order of writing.
  std::vector<std::string> children(std::string_view path) const;
  /// The full paths of all datasets below a group, depth first, in the order of writing.
  std::vector<std::string> datasets(std::string_view path) const;
  DatasetShape shape(std::string_view path) const;

  /// Reads all of a dataset of exactly that type and exactly these extents.
  template <class T>
  void read_into(std::string_view path, std::span<T> into, const std::vector<Index>& extents) const {
    read(path, number_type_of<T>(), into.data(), static_cast<Index>(into.size()), extents);
  }
  /// Reads all of a dataset of exactly that type, of any shape.
  template <class T>
  std::vector<T> numbers(std::string_view path) const {
    const DatasetShape found = shape(path);
    check_type(path, found, number_type_of<T>());
    std::vector<T> values(static_cast<std::size_t>(found.count()));
    read_into(path, std::span<T>(values), found.extents);
    return values;
  }
  template <class T>
  T number(std::string_view path) const {
    T value{};
    read_into(path, std::span<T>(&value, 1), {});
    return value;
  }
  /// Reads a part of a dataset, of exactly that type or, as double, of any number type. `into` has room for
  /// exactly the part, which lies inside the dataset.
  template <class T>
  void read_part(std::string_view path, const Slab& part, std::span<T> into) const {
    read_slab(path, part, number_type_of<T>(), into.data(), static_cast<Index>(into.size()));
  }
  std::string text(std::string_view path) const;
  std::vector<std::string> texts(std::string_view path) const;
  /// The bytes of a contiguous dataset where they lie, without a copy; valid while the reader lives. Not for
  /// a file that is streamed.
  std::span<const unsigned char> raw(std::string_view path) const;

  bool has_attribute(std::string_view path, const std::string& name) const;
  std::vector<std::string> attribute_names(std::string_view path) const;
  AttributeValue attribute(std::string_view path, const std::string& name) const;
  /// As one type: a whole number serves as double, and as either sign where it fits.
  bool flag(std::string_view path, const std::string& name) const;
  std::int64_t integer(std::string_view path, const std::string& name) const;
  std::uint64_t unsigned_integer(std::string_view path, const std::string& name) const;
  double real(std::string_view path, const std::string& name) const;
  std::string label(std::string_view path, const std::string& name) const;

 private:
  struct State;
  explicit Hdf5Reader(std::unique_ptr<State> state);
  void read(std::string_view path, NumberType type, void* into, Index count,
            const std::vector<Index>& extents) const;
  void read_slab(std::string_view path, const Slab& part, NumberType type, void* into, Index count) const;
  void check_type(std::string_view path, const DatasetShape& found, NumberType expected) const;
  std::unique_ptr<State> state_;
};

}  // namespace tapeline
