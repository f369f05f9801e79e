#include "data/hdf5_reader.h"

#include "data/hdf5_reader_state.h"

namespace tapeline {

using hdf5::check;
using hdf5::Handle;

Hdf5Reader::Hdf5Reader(std::shared_ptr<const Container> container)
    : state_(std::make_unique<State>(std::move(container))) {}
Hdf5Reader::Hdf5Reader(Hdf5Reader&&) noexcept = default;
Hdf5Reader& Hdf5Reader::operator=(Hdf5Reader&&) noexcept = default;
Hdf5Reader::~Hdf5Reader() = default;

Hdf5Reader Hdf5Reader::open(const std::filesystem::path& path, std::string_view kind,
                            Container::Access access) {
  return Hdf5Reader(Container::open(path, kind, access));
}

Hdf5Reader Hdf5Reader::from_bytes(std::string bytes, std::string name) {
  return Hdf5Reader(std::make_shared<const Container>(std::move(bytes), std::move(name)));
}

const std::string& Hdf5Reader::name() const { return state_->container->name(); }
bool Hdf5Reader::contains(std::string_view path) const { return state_->exists(path); }

bool Hdf5Reader::is_group(std::string_view path) const {
  return contains(path) && H5Iget_type(state_->object(path)) == H5I_GROUP;
}

std::vector<std::string> Hdf5Reader::children(std::string_view path) const {
  const std::string what = state_->what(path);
  const Handle group = state_->object(path);
  require<FileError>(H5Iget_type(group) == H5I_GROUP, "{}: it is a dataset; a group was expected", what);
  const Handle list(H5Gget_create_plist(group), H5Pclose, what);
  unsigned order = 0;
  check(H5Pget_link_creation_order(list, &order), what);
  std::vector<std::string> names;
  hsize_t place = 0;
  check(H5Literate(
            group, (order & H5P_CRT_ORDER_TRACKED) != 0 ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME, H5_ITER_INC,
            &place,
            [](hid_t, const char* name, const H5L_info_t* link, void* raw) -> herr_t {
              // Soft links can run in circles.
              if (link->type == H5L_TYPE_HARD)
                static_cast<std::vector<std::string>*>(raw)->emplace_back(name);
              return 0;
            },
            &names),
        what);
  return names;
}

std::vector<std::string> Hdf5Reader::datasets(std::string_view path) const {
  constexpr int deepest = 32;
  std::vector<std::string> found;
  const auto walk = [&](const auto& self, const std::string& at, int depth) -> void {
    require<FileError>(depth <= deepest, "{}: its groups are nested more than {} deep", state_->what(at),
                       deepest);
    for (const std::string& child : children(at)) {
      const std::string full = at == "/" ? "/" + child : at + "/" + child;
      if (is_group(full))
        self(self, full, depth + 1);
      else
        found.push_back(full);
    }
  };
  walk(walk, std::string(path), 0);
  return found;
}

DatasetShape Hdf5Reader::shape(std::string_view path) const {
  const std::string what = state_->what(path);
  const Handle dataset = state_->dataset(path);
  const Handle type(H5Dget_type(dataset), H5Tclose, what);
  const Handle space(H5Dget_space(dataset), H5Sclose, what);
  DatasetShape shape;
  if (H5Tget_class(type) == H5T_STRING) {
    shape.text = true;
  } else {
    bool known = false;
    for (int i = 0; i <= static_cast<int>(NumberType::u64) && !known; ++i) {
      shape.type = static_cast<NumberType>(i);
      known = H5Tequal(type, hdf5::file_type(shape.type)) > 0;
    }
    require<FileError>(known, "{}: its number type is none that this program reads", what);
  }
  require<FileError>(H5Sget_simple_extent_type(space) != H5S_NULL, "{}: it has no extent", what);
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank < 0) hdf5::fail(what);
  std::vector<hsize_t> sizes(static_cast<std::size_t>(rank));
  if (rank > 0 && H5Sget_simple_extent_dims(space, sizes.data(), nullptr) < 0) hdf5::fail(what);
  // What it claims to hold must fit into the file, before anyone makes room for it.
  const hsize_t limit =
      static_cast<hsize_t>(state_->container->size()) / (H5Tget_size(type) > 0 ? H5Tget_size(type) : 1);
  hsize_t count = 1;
  for (const hsize_t size : sizes) {
    require<FileError>(size <= limit && (size == 0 || count <= limit / size),
                       "{}: its shape [{}] is larger than the file", what, fmt::join(sizes, ", "));
    count *= size;
    shape.extents.push_back(static_cast<Index>(size));
  }
  return shape;
}

void Hdf5Reader::check_type(std::string_view path, const DatasetShape& found, NumberType expected) const {
  require<FileError>(!found.text && found.type == expected, "{}: it holds {}; {} was expected",
                     state_->what(path), found.text ? "text" : number_type_name(found.type),
                     number_type_name(expected));
}

void Hdf5Reader::read(std::string_view path, NumberType type, void* into, Index count,
                      const std::vector<Index>& extents) const {
  const std::string what = state_->what(path);
  const DatasetShape found = shape(path);
  check_type(path, found, type);
  require<FileError>(found.extents == extents, "{}: its shape is [{}]; [{}] was expected", what,
                     fmt::join(found.extents, ", "), fmt::join(extents, ", "));
  require<StateError>(found.count() == count, "{}: there is room for {} of {} numbers", what, count,
                      found.count());
  if (count == 0) return;
  const Handle dataset = state_->dataset(path);
  check(H5Dread(dataset, hdf5::memory_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, into), what);
}

void Hdf5Reader::read_slab(std::string_view path, const Slab& part, NumberType type, void* into,
                           Index count) const {
  const std::string what = state_->what(path);
  const DatasetShape found = shape(path);
  if (type != NumberType::f64 || found.text) check_type(path, found, type);
  require<FileError>(part.fits(found.extents), "{}: the part {} does not lie inside its shape [{}]", what,
                     part.text(), fmt::join(found.extents, ", "));
  require<StateError>(part.size() == count, "{}: there is room for {} of {} numbers", what, count,
                      part.size());
  if (count == 0) return;
  const Handle dataset = state_->dataset(path);
  if (found.extents.empty()) {
    check(H5Dread(dataset, hdf5::memory_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, into), what);
    return;
  }
  std::vector<hsize_t> begin, step, counts;
  for (const SlabAxis& axis : part.axes) {
    begin.push_back(static_cast<hsize_t>(axis.begin));
    step.push_back(static_cast<hsize_t>(axis.step));
    counts.push_back(static_cast<hsize_t>(axis.count));
  }
  const Handle stored(H5Dget_space(dataset), H5Sclose, what);
  check(H5Sselect_hyperslab(stored, H5S_SELECT_SET, begin.data(), step.data(), counts.data(), nullptr), what);
  const auto numbers = static_cast<hsize_t>(count);
  const Handle memory(H5Screate_simple(1, &numbers, nullptr), H5Sclose, what);
  check(H5Dread(dataset, hdf5::memory_type(type), memory, stored, H5P_DEFAULT, into), what);
}

std::span<const unsigned char> Hdf5Reader::raw(std::string_view path) const {
  const std::string what = state_->what(path);
  const DatasetShape found = shape(path);
  const auto bytes = static_cast<haddr_t>(found.count() * number_type_size(found.type));
  require<FileError>(!found.text, "{}: it holds text; numbers were expected", what);
  require<StateError>(state_->container->descriptor() < 0, "{}: the bytes of a streamed file are not held",
                      what);
  if (bytes == 0) return {};
  const haddr_t offset = H5Dget_offset(state_->dataset(path));
  if (offset == HADDR_UNDEF) hdf5::fail(what);
  const std::span<const unsigned char> body = state_->container->body();
  require<FileError>(offset <= body.size() && bytes <= body.size() - offset,
                     "{}: its {} bytes at {} lie outside the file, which has {}", what, bytes, offset,
                     body.size());
  return body.subspan(offset, bytes);
}

}  // namespace tapeline
