#include "data/hdf5_library.h"

#include <atomic>

namespace tapeline {

std::string_view number_type_name(NumberType type) {
  switch (type) {
    case NumberType::f32:
      return "f32";
    case NumberType::f64:
      return "f64";
    case NumberType::i8:
      return "i8";
    case NumberType::u8:
      return "u8";
    case NumberType::i16:
      return "i16";
    case NumberType::u16:
      return "u16";
    case NumberType::i32:
      return "i32";
    case NumberType::u32:
      return "u32";
    case NumberType::i64:
      return "i64";
    case NumberType::u64:
      return "u64";
  }
  return "?";
}

Index number_type_size(NumberType type) {
  switch (type) {
    case NumberType::i8:
    case NumberType::u8:
      return 1;
    case NumberType::i16:
    case NumberType::u16:
      return 2;
    case NumberType::f32:
    case NumberType::i32:
    case NumberType::u32:
      return 4;
    default:
      return 8;
  }
}

Index DatasetShape::count() const {
  Index product = 1;
  for (const Index extent : extents) product *= extent;
  return product;
}

namespace hdf5 {

void start_library() {
  static const bool started = [] {
    if (H5open() < 0) tapeline::fail<FileError>("hdf5: the library cannot be started");
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    check(H5Lunregister(H5L_TYPE_EXTERNAL), "hdf5: external links cannot be switched off");
    check(H5PLset_loading_state(0), "hdf5: plugins cannot be switched off");
    return true;
  }();
  static_cast<void>(started);
}

std::string take_reason() {
  std::string reason;
  // Walking upward starts at the function that failed first; the others only repeat that they failed too.
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned position, const H5E_error2_t* error, void* raw) -> herr_t {
        if (position == 0 && error->desc != nullptr) *static_cast<std::string*>(raw) = error->desc;
        return 0;
      },
      &reason);
  H5Eclear2(H5E_DEFAULT);
  for (char& letter : reason)
    if (static_cast<unsigned char>(letter) < ' ') letter = ' ';
  return reason.empty() ? "the HDF5 library gives no reason" : reason;
}

void fail(std::string_view what) { tapeline::fail<FileError>("{}: {}", what, take_reason()); }

std::string unique_name() {
  static std::atomic<unsigned long> opened{0};
  // Nothing can exist below a file that is no folder.
  return fmt::format("/dev/null/tapeline-{}", ++opened);
}

hid_t file_type(NumberType type) {
  switch (type) {
    case NumberType::f32:
      return H5T_IEEE_F32LE;
    case NumberType::f64:
      return H5T_IEEE_F64LE;
    case NumberType::i8:
      return H5T_STD_I8LE;
    case NumberType::u8:
      return H5T_STD_U8LE;
    case NumberType::i16:
      return H5T_STD_I16LE;
    case NumberType::u16:
      return H5T_STD_U16LE;
    case NumberType::i32:
      return H5T_STD_I32LE;
    case NumberType::u32:
      return H5T_STD_U32LE;
    case NumberType::i64:
      return H5T_STD_I64LE;
    case NumberType::u64:
      return H5T_STD_U64LE;
  }
  return -1;
}

hid_t memory_type(NumberType type) {
  switch (type) {
    case NumberType::f32:
      return H5T_NATIVE_FLOAT;
    case NumberType::f64:
      return H5T_NATIVE_DOUBLE;
    case NumberType::i8:
      return H5T_NATIVE_INT8;
    case NumberType::u8:
      return H5T_NATIVE_UINT8;
    case NumberType::i16:
      return H5T_NATIVE_INT16;
    case NumberType::u16:
      return H5T_NATIVE_UINT16;
    case NumberType::i32:
      return H5T_NATIVE_INT32;
    case NumberType::u32:
      return H5T_NATIVE_UINT32;
    case NumberType::i64:
      return H5T_NATIVE_INT64;
    case NumberType::u64:
      return H5T_NATIVE_UINT64;
  }
  return -1;
}

Handle text_type() {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "hdf5: the text type");
  check(H5Tset_size(type, H5T_VARIABLE), "hdf5: the text type");
  check(H5Tset_cset(type, H5T_CSET_UTF8), "hdf5: the text type");
  return type;
}

Handle flag_type() {
  Handle type(H5Tenum_create(H5T_STD_I8LE), H5Tclose, "hdf5: the flag type");
  const signed char no = 0, yes = 1;
  check(H5Tenum_insert(type, "FALSE", &no), "hdf5: the flag type");
  check(H5Tenum_insert(type, "TRUE", &yes), "hdf5: the flag type");
  return type;
}

}  // namespace hdf5
}  // namespace tapeline
