#include "data/hdf5_reader_state.h"

namespace tapeline {
namespace {

using hdf5::check;
using hdf5::Handle;

// The image callbacks that lend bytes to HDF5: they are neither copied nor freed nor grown.

void* lend(std::size_t size, H5FD_file_image_op_t, void* raw) {
  const auto* loan = static_cast<hdf5::Loan*>(raw);
  return size == loan->size ? loan->data : nullptr;
}
void* copy_nothing(void* into, const void* from, std::size_t, H5FD_file_image_op_t, void*) {
  return into == from ? into : nullptr;
}
void* grow_nothing(void*, std::size_t, H5FD_file_image_op_t, void*) { return nullptr; }
herr_t free_nothing(void*, H5FD_file_image_op_t, void*) { return 0; }
void* share_loan(void* raw) { return raw; }
herr_t leave_loan(void*) { return 0; }

}  // namespace

Hdf5Reader::State::State(std::shared_ptr<const Container> bytes) : container(std::move(bytes)) {
  hdf5::start_library();
  const std::string what = fmt::format("cannot read \"{}\" as HDF5", container->name());
  require<FileError>(container->size() > 0, "{}: it is empty", what);
  if (container->descriptor() < 0) {
    open_loan(what);
  } else {
    open_stream(what);
  }
}

void Hdf5Reader::State::open_loan(const std::string& what) {
  // Opened for reading only: nothing writes through this pointer.
  loan = {const_cast<unsigned char*>(container->body().data()), container->body().size()};
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, what);
  check(H5Pset_fapl_core(access, std::size_t{1} << 16, false), what);
  H5FD_file_image_callbacks_t callbacks{lend,       copy_nothing, grow_nothing, free_nothing,
                                        share_loan, leave_loan,   &loan};
  check(H5Pset_file_image_callbacks(access, &callbacks), what);
  check(H5Pset_file_image(access, loan.data, loan.size), what);
  check(H5Pset_fclose_degree(access, H5F_CLOSE_SEMI), what);
  file = Handle(H5Fopen(hdf5::unique_name().c_str(), H5F_ACC_RDONLY, access), H5Fclose, what);
}

void Hdf5Reader::State::open_stream(const std::string& what) {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, what);
  check(H5Pset_fapl_sec2(access), what);
  // A lock would keep writers out, and some network disks know none.
  check(H5Pset_file_locking(access, false, true), what);
  check(H5Pset_fclose_degree(access, H5F_CLOSE_SEMI), what);
  // By the number of the open file it is the very file that was verified, whatever its name leads to by now.
  // HDF5 looks for its own beginning at 0, 512, …, and finds it behind the block.
  const std::string name = fmt::format("/dev/fd/{}", container->descriptor());
  file = Handle(H5Fopen(name.c_str(), H5F_ACC_RDONLY, access), H5Fclose, what);
}

std::string Hdf5Reader::State::what(std::string_view path) const {
  return fmt::format("cannot read \"{}\" of \"{}\"", path, container->name());
}

bool Hdf5Reader::State::exists(std::string_view path) const {
  // H5Lexists fails, rather than saying no, when a group on the way is missing.
  std::string so_far;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(slash == path.npos ? path.size() : slash + 1);
    if (part.empty()) continue;
    if (!so_far.empty()) {
      const Handle above(H5Oopen(file, so_far.c_str(), H5P_DEFAULT), H5Oclose, what(so_far));
      if (H5Iget_type(above) != H5I_GROUP) return false;
    }
    so_far.append("/").append(part);
    const htri_t there = H5Lexists(file, so_far.c_str(), H5P_DEFAULT);
    check(there, what(so_far));
    if (there == 0) return false;
  }
  return true;
}

Handle Hdf5Reader::State::object(std::string_view path) const {
  require<FileError>(exists(path), "{}: there is nothing of that name in the file", what(path));
  return Handle(H5Oopen(file, std::string(path).c_str(), H5P_DEFAULT), H5Oclose, what(path));
}

Handle Hdf5Reader::State::dataset(std::string_view path) const {
  Handle found = object(path);
  require<FileError>(H5Iget_type(found) == H5I_DATASET, "{}: it is a group; a dataset was expected",
                     what(path));
  // Anything but plain storage inside this very file is not of our making.
  const Handle list(H5Dget_create_plist(found), H5Pclose, what(path));
  const H5D_layout_t layout = H5Pget_layout(list);
  require<FileError>((layout == H5D_CONTIGUOUS || layout == H5D_COMPACT) && H5Pget_external_count(list) == 0,
                     "{}: it is not stored in one plain piece inside the file", what(path));
  return found;
}

}  // namespace tapeline
