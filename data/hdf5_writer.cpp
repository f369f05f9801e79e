#include "data/hdf5_writer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "data/hdf5_library.h"

namespace tapeline {
namespace {

using hdf5::check;
using hdf5::Handle;

/// The memory that HDF5 builds the file in. Growth arrives as realloc; the pointer handed to image_free as
/// the file closes is the finished image. H5Fget_file_image is of no use: with these bounds it gives a file
/// with a wrong superblock checksum.
struct Image {
  void* data = nullptr;
  std::size_t size = 0;
  bool complete = false;
  Image() = default;
  Image(const Image&) = delete;
  ~Image() { std::free(data); }
};

void* image_malloc(std::size_t size, H5FD_file_image_op_t, void* raw) {
  auto* image = static_cast<Image*>(raw);
  image->data = std::malloc(size);
  image->size = size;
  return image->data;
}

void* image_copy(void* into, const void* from, std::size_t size, H5FD_file_image_op_t, void*) {
  return std::memcpy(into, from, size);
}

void* image_realloc(void* data, std::size_t size, H5FD_file_image_op_t, void* raw) {
  auto* image = static_cast<Image*>(raw);
  void* grown = std::realloc(data, size);
  if (grown == nullptr) return nullptr;  // the old block stays ours, and is freed with the image
  // HDF5 fills only what it writes; the gaps must be the same in every run.
  if (size > image->size) std::memset(static_cast<char*>(grown) + image->size, 0, size - image->size);
  image->data = grown;
  image->size = size;
  return grown;
}

herr_t image_free(void* data, H5FD_file_image_op_t operation, void* raw) {
  auto* image = static_cast<Image*>(raw);
  if (operation == H5FD_FILE_IMAGE_OP_FILE_CLOSE && data == image->data) image->complete = true;
  return 0;
}

void* share_image(void* raw) { return raw; }
herr_t leave_image(void*) { return 0; }

constexpr std::size_t growth = std::size_t{1} << 20;

Handle no_times(hid_t property_class) {
  Handle list(H5Pcreate(property_class), H5Pclose, "hdf5: a property list");
  check(H5Pset_obj_track_times(list, false), "hdf5: object times cannot be switched off");
  return list;
}

Handle group_properties(hid_t property_class) {
  Handle list = no_times(property_class);
  check(H5Pset_link_creation_order(list, H5P_CRT_ORDER_TRACKED), "hdf5: the order of links cannot be kept");
  return list;
}

Handle scalar_or(const std::vector<Index>& extents, std::string_view what) {
  std::vector<hsize_t> sizes(extents.begin(), extents.end());
  return Handle(sizes.empty() ? H5Screate(H5S_SCALAR)
                              : H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr),
                H5Sclose, what);
}

void refuse_zero_byte(std::string_view value, std::string_view what) {
  require<FileError>(value.find('\0') == std::string_view::npos,
                     "{}: the text has a zero byte at offset {}, where HDF5 would cut it", what,
                     value.find('\0'));
}

}  // namespace

struct Hdf5Writer::State {
  std::unique_ptr<Image> image = std::make_unique<Image>();
  Handle group_list, dataset_list;
  Handle file;
  bool opened = false;

  ~State() {
    // A file that HDF5 could not close stays open in it until the program ends, when it is written to once
    // more: its memory must still be there.
    if (!file.reset() || (opened && !image->complete)) static_cast<void>(image.release());
  }

  State() {
    hdf5::start_library();
    constexpr std::string_view what = "hdf5: a file in memory cannot be made";
    Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, what);
    check(H5Pset_fapl_core(access, growth, false), what);
    H5FD_file_image_callbacks_t callbacks{image_malloc, image_copy,  image_realloc, image_free,
                                          share_image,  leave_image, image.get()};
    check(H5Pset_file_image_callbacks(access, &callbacks), what);
    check(H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V110), what);
    // By default H5Fclose says it is done while an object is open, and leaves the file open.
    check(H5Pset_fclose_degree(access, H5F_CLOSE_SEMI), what);
    const Handle creation = group_properties(H5P_FILE_CREATE);
    group_list = group_properties(H5P_GROUP_CREATE);
    dataset_list = no_times(H5P_DATASET_CREATE);
    file = Handle(H5Fcreate(hdf5::unique_name().c_str(), H5F_ACC_TRUNC, creation, access), H5Fclose, what);
    opened = true;
  }

  /// Walks to the parent of the last name of `path`, making groups, and returns that name. Groups are made
  /// one by one: those that HDF5 makes by itself on the way to a name carry a time.
  std::string make_parents(std::string_view path, Handle& parent) {
    parent = Handle(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose, "hdf5: the root group");
    if (path.starts_with('/')) path.remove_prefix(1);
    std::string so_far;
    for (;;) {
      const std::size_t slash = path.find('/');
      const std::string name(path.substr(0, slash));
      require<FileError>(
          !name.empty() && name != "." && name != ".." && name.find('\0') == name.npos,
          "hdf5: the name \"{}/{}\" cannot be written: a part of it is empty, \".\", \"..\" or has "
          "a zero byte",
          so_far, path);
      if (slash == path.npos) return name;
      so_far += "/" + name;
      parent = enter(parent, name, so_far);
      path.remove_prefix(slash + 1);
    }
  }

  Handle enter(hid_t parent, const std::string& name, const std::string& full) {
    const std::string what = fmt::format("hdf5: group \"{}\" cannot be made", full);
    const htri_t there = H5Lexists(parent, name.c_str(), H5P_DEFAULT);
    check(there, what);
    if (there == 0) {
      return Handle(H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, group_list, H5P_DEFAULT), H5Gclose, what);
    }
    Handle object(H5Oopen(parent, name.c_str(), H5P_DEFAULT), H5Oclose, what);
    require<FileError>(H5Iget_type(object) == H5I_GROUP,
                       "{}: there is a dataset of that name, and nothing can stand below it", what);
    return object;
  }

  /// An object that exists, for its attributes.
  Handle object(std::string_view path, std::string_view what) {
    return Handle(H5Oopen(file, std::string(path).c_str(), H5P_DEFAULT), H5Oclose, what);
  }

  Handle new_dataset(std::string_view path, hid_t type, hid_t space, const std::string& what) {
    Handle parent;
    const std::string name = make_parents(path, parent);
    const htri_t there = H5Lexists(parent, name.c_str(), H5P_DEFAULT);
    check(there, what);
    require<FileError>(there == 0, "{}: the name is taken; names must differ", what);
    return Handle(H5Dcreate2(parent, name.c_str(), type, space, H5P_DEFAULT, dataset_list, H5P_DEFAULT),
                  H5Dclose, what);
  }
};

Hdf5Writer::Hdf5Writer() : state_(std::make_unique<State>()) {}
Hdf5Writer::~Hdf5Writer() = default;

void Hdf5Writer::group(std::string_view path) {
  Handle parent;
  const std::string name = state_->make_parents(path, parent);
  state_->enter(parent, name, std::string(path));
}

void Hdf5Writer::write(std::string_view path, NumberType type, const void* values, Index count,
                       const std::vector<Index>& extents) {
  const std::string what = fmt::format("hdf5: dataset \"{}\" cannot be written", path);
  const DatasetShape shape{false, type, extents};
  require<FileError>(std::all_of(extents.begin(), extents.end(), [](Index extent) { return extent >= 0; }) &&
                         shape.count() == count,
                     "{}: {} numbers for the shape [{}]", what, count, fmt::join(extents, ", "));
  const Handle space = scalar_or(extents, what);
  const Handle dataset = state_->new_dataset(path, hdf5::file_type(type), space, what);
  if (count == 0) return;
  check(H5Dwrite(dataset, hdf5::memory_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, values), what);
}

void Hdf5Writer::text(std::string_view path, std::string_view value) {
  const std::string what = fmt::format("hdf5: text \"{}\" cannot be written", path);
  refuse_zero_byte(value, what);
  const Handle type = hdf5::text_type();
  const Handle dataset = state_->new_dataset(path, type, scalar_or({}, what), what);
  const std::string terminated(value);
  const char* pointer = terminated.c_str();
  check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &pointer), what);
}

void Hdf5Writer::texts(std::string_view path, const std::vector<std::string>& values) {
  const std::string what = fmt::format("hdf5: texts \"{}\" cannot be written", path);
  std::vector<const char*> pointers;
  for (const std::string& value : values) {
    refuse_zero_byte(value, what);
    pointers.push_back(value.c_str());
  }
  const Handle type = hdf5::text_type();
  const Handle dataset =
      state_->new_dataset(path, type, scalar_or({static_cast<Index>(values.size())}, what), what);
  if (values.empty()) return;
  check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()), what);
}

void Hdf5Writer::attribute(std::string_view path, const std::string& name, const AttributeValue& value) {
  const std::string what = fmt::format("hdf5: attribute \"{}\" of \"{}\" cannot be written", name, path);
  const Handle object = state_->object(path, what);
  const Handle space = scalar_or({}, what);
  const auto write_as = [&](hid_t stored, hid_t memory, const void* data) {
    const Handle attribute(H5Acreate2(object, name.c_str(), stored, space, H5P_DEFAULT, H5P_DEFAULT),
                           H5Aclose, what);
    check(H5Awrite(attribute, memory, data), what);
  };
  if (const auto* flag = std::get_if<bool>(&value)) {
    const Handle type = hdf5::flag_type();
    const signed char byte = *flag ? 1 : 0;
    write_as(type, type, &byte);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    refuse_zero_byte(*text, what);
    const Handle type = hdf5::text_type();
    const char* pointer = text->c_str();
    write_as(type, type, &pointer);
  } else if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    write_as(hdf5::file_type(NumberType::i64), hdf5::memory_type(NumberType::i64), whole);
  } else if (const auto* natural = std::get_if<std::uint64_t>(&value)) {
    write_as(hdf5::file_type(NumberType::u64), hdf5::memory_type(NumberType::u64), natural);
  } else {
    write_as(hdf5::file_type(NumberType::f64), hdf5::memory_type(NumberType::f64), &std::get<double>(value));
  }
}

std::string Hdf5Writer::finish() {
  constexpr std::string_view what = "hdf5: the file in memory cannot be finished";
  if (!state_->file.reset()) hdf5::fail(what);
  const Image& image = *state_->image;
  require<FileError>(image.complete, "{}: it was closed but not given back; something in it is still open",
                     what);
  // The buffer is a multiple of the growth step long; the file's own length stands in its superblock
  // (version 2: "end of file address", eight bytes, little-endian, at 28).
  const auto* bytes = static_cast<const unsigned char*>(image.data);
  require<FileError>(image.size >= 48 && bytes[8] >= 2 && bytes[8] <= 3,
                     "{}: its superblock is not of version 2 or 3", what);
  std::uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | bytes[28 + i];
  require<FileError>(length >= 48 && length <= image.size, "{}: it says it has {} bytes of {}", what, length,
                     image.size);
  return std::string(static_cast<const char*>(image.data), length);
}

}  // namespace tapeline
