#include "experiments/inspect/dataset_reading.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "core/sha256.h"

namespace tapeline {
namespace {

/// Numbers read at a time.
constexpr Index piece_size = Index{1} << 20;

/// Hands out a dataset piece by piece, as often as wanted; a small one is read from the file only once.
template <class T>
class Pieces {
 public:
  Pieces(const Hdf5Reader& file, const std::string& path)
      : file_(file), path_(path), whole_(Slab::whole(file.shape(path).extents)) {
    buffer_.resize(static_cast<std::size_t>(std::min(whole_.size(), piece_size)));
  }
  template <class Take>
  void each(Take&& take) {
    for_each_piece(whole_, piece_size, [&](const Slab& piece) {
      const std::span<T> values = std::span(buffer_).first(static_cast<std::size_t>(piece.size()));
      if (!held_) file_.read_part(path_, piece, values);
      held_ = piece.size() == whole_.size();
      take(std::span<const T>(values));
    });
  }

 private:
  const Hdf5Reader& file_;
  const std::string& path_;
  Slab whole_;
  std::vector<T> buffer_;
  bool held_ = false;
};

template <class T>
Statistics pass_over(const Hdf5Reader& file, const std::string& path) {
  Pieces<T> pieces(file, path);
  StatisticsPass pass;
  pieces.each([&](std::span<const T> values) { pass.first(values); });
  pieces.each([&](std::span<const T> values) { pass.second(values); });
  return pass.finish();
}

}  // namespace

Statistics read_statistics(const Hdf5Reader& file, const std::string& path) {
  return file.shape(path).type == NumberType::f32 ? pass_over<float>(file, path)
                                                  : pass_over<double>(file, path);
}

ReadCheck read_check(const Hdf5Reader& file, const std::string& path) {
  return with_number_type(file.shape(path).type, [&]<class T>(T) {
    ReadCheck check;
    Sha256 digest;
    Pieces<T>(file, path).each([&](std::span<const T> values) {
      digest.update(values.data(), values.size_bytes());
      if constexpr (std::is_floating_point_v<T>) {
        check.not_finite += std::ranges::count_if(values, [](T value) { return !std::isfinite(value); });
      }
    });
    check.sha256 = digest.hex_digest();
    return check;
  });
}

std::vector<std::string> read_texts(const Hdf5Reader& file, const std::string& path, const Slab& part) {
  return with_number_type(file.shape(path).type, [&]<class T>(T) {
    std::vector<T> values(static_cast<std::size_t>(part.size()));
    file.read_part(path, part, std::span<T>(values));
    std::vector<std::string> texts;
    for (const T value : values) {
      // A small whole number must not be taken for a letter.
      if constexpr (std::is_floating_point_v<T>)
        texts.push_back(fmt::format("{}", value));
      else
        texts.push_back(std::to_string(value));
    }
    return texts;
  });
}

}  // namespace tapeline
