// Texts and attributes of the HDF5 reader.

#include <limits>

#include "data/hdf5_reader.h"
#include "data/hdf5_reader_state.h"

namespace tapeline {

using hdf5::check;
using hdf5::Handle;

namespace {

/// Reads `count` strings, of fixed or variable length, through `read(memory type, into)`.
template <class Read>
std::vector<std::string> read_strings(hid_t stored, hid_t space, std::size_t count, const std::string& what,
                                      Read read) {
  std::vector<std::string> texts;
  if (count == 0) return texts;
  texts.reserve(count);
  if (H5Tis_variable_str(stored) > 0) {
    const Handle memory = hdf5::text_type();
    check(H5Tset_cset(memory, H5Tget_cset(stored)), what);
    std::vector<char*> pointers(count, nullptr);
    const herr_t status = read(memory, pointers.data());
    for (const char* pointer : pointers) texts.emplace_back(pointer == nullptr ? "" : pointer);
    H5Dvlen_reclaim(memory, space, H5P_DEFAULT, pointers.data());
    check(status, what);
    return texts;
  }
  const std::size_t width = H5Tget_size(stored);
  std::string bytes(width * count, '\0');
  check(read(stored, bytes.data()), what);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string text = bytes.substr(i * width, width);
    texts.push_back(text.substr(0, text.find('\0')));
  }
  return texts;
}

}  // namespace

std::vector<std::string> Hdf5Reader::texts(std::string_view path) const {
  const std::string what = state_->what(path);
  const DatasetShape found = shape(path);
  require<FileError>(found.text, "{}: it holds {}; text was expected", what, number_type_name(found.type));
  const Handle dataset = state_->dataset(path);
  const Handle type(H5Dget_type(dataset), H5Tclose, what);
  const Handle space(H5Dget_space(dataset), H5Sclose, what);
  return read_strings(type, space, static_cast<std::size_t>(found.count()), what,
                      [&](hid_t memory, void* into) {
                        return H5Dread(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, into);
                      });
}

std::string Hdf5Reader::text(std::string_view path) const {
  std::vector<std::string> found = texts(path);
  require<FileError>(found.size() == 1, "{}: it holds {} texts; one was expected", state_->what(path),
                     found.size());
  return std::move(found.front());
}

bool Hdf5Reader::has_attribute(std::string_view path, const std::string& name) const {
  const htri_t there = H5Aexists(state_->object(path), name.c_str());
  check(there, state_->what(path));
  return there > 0;
}

std::vector<std::string> Hdf5Reader::attribute_names(std::string_view path) const {
  std::vector<std::string> names;
  hsize_t place = 0;
  check(H5Aiterate2(
            state_->object(path), H5_INDEX_NAME, H5_ITER_INC, &place,
            [](hid_t, const char* name, const H5A_info_t*, void* raw) -> herr_t {
              static_cast<std::vector<std::string>*>(raw)->emplace_back(name);
              return 0;
            },
            &names),
        state_->what(path));
  return names;
}

AttributeValue Hdf5Reader::attribute(std::string_view path, const std::string& name) const {
  const std::string what =
      fmt::format("cannot read attribute \"{}\" of \"{}\" of \"{}\"", name, path, state_->container->name());
  require<FileError>(has_attribute(path, name), "{}: there is none of that name", what);
  const Handle attribute(H5Aopen(state_->object(path), name.c_str(), H5P_DEFAULT), H5Aclose, what);
  const Handle type(H5Aget_type(attribute), H5Tclose, what);
  const Handle space(H5Aget_space(attribute), H5Sclose, what);
  require<FileError>(H5Sget_simple_extent_npoints(space) == 1, "{}: it is not one value", what);
  switch (H5Tget_class(type)) {
    case H5T_ENUM: {
      signed char flag = 0;
      check(H5Aread(attribute, hdf5::flag_type(), &flag), what);
      return flag != 0;
    }
    case H5T_INTEGER: {
      if (H5Tget_sign(type) == H5T_SGN_NONE) {
        std::uint64_t value = 0;
        check(H5Aread(attribute, H5T_NATIVE_UINT64, &value), what);
        return value;
      }
      std::int64_t value = 0;
      check(H5Aread(attribute, H5T_NATIVE_INT64, &value), what);
      return value;
    }
    case H5T_FLOAT: {
      double value = 0;
      check(H5Aread(attribute, H5T_NATIVE_DOUBLE, &value), what);
      return value;
    }
    case H5T_STRING:
      return std::move(read_strings(type, space, 1, what, [&](hid_t memory, void* into) {
                         return H5Aread(attribute, memory, into);
                       }).front());
    default:
      tapeline::fail<FileError>("{}: its type is none that this program reads", what);
  }
}

namespace {

[[noreturn]] void fail_type(const Hdf5Reader& reader, std::string_view path, const std::string& name,
                            std::string_view expected) {
  fail<FileError>("cannot read attribute \"{}\" of \"{}\" of \"{}\": it is not {}", name, path, reader.name(),
                  expected);
}

}  // namespace

bool Hdf5Reader::flag(std::string_view path, const std::string& name) const {
  const AttributeValue value = attribute(path, name);
  if (const auto* found = std::get_if<bool>(&value)) return *found;
  fail_type(*this, path, name, "true or false");
}

std::int64_t Hdf5Reader::integer(std::string_view path, const std::string& name) const {
  const AttributeValue value = attribute(path, name);
  if (const auto* found = std::get_if<std::int64_t>(&value)) return *found;
  if (const auto* found = std::get_if<std::uint64_t>(&value))
    if (*found <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return static_cast<std::int64_t>(*found);
  fail_type(*this, path, name, "a whole number");
}

std::uint64_t Hdf5Reader::unsigned_integer(std::string_view path, const std::string& name) const {
  const AttributeValue value = attribute(path, name);
  if (const auto* found = std::get_if<std::uint64_t>(&value)) return *found;
  if (const auto* found = std::get_if<std::int64_t>(&value))
    if (*found >= 0) return static_cast<std::uint64_t>(*found);
  fail_type(*this, path, name, "a whole number from 0 up");
}

double Hdf5Reader::real(std::string_view path, const std::string& name) const {
  const AttributeValue value = attribute(path, name);
  if (const auto* found = std::get_if<double>(&value)) return *found;
  if (const auto* found = std::get_if<std::int64_t>(&value)) return static_cast<double>(*found);
  if (const auto* found = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*found);
  fail_type(*this, path, name, "a number");
}

std::string Hdf5Reader::label(std::string_view path, const std::string& name) const {
  AttributeValue value = attribute(path, name);
  if (auto* found = std::get_if<std::string>(&value)) return std::move(*found);
  fail_type(*this, path, name, "text");
}

}  // namespace tapeline
