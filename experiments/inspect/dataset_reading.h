#pragma once

#include <string>
#include <vector>

#include "data/hdf5_reader.h"
#include "experiments/inspect/statistics.h"

namespace tapeline {

/// Calls `action` with a value of the C++ type of `type`, for generic lambdas.
template <class Action>
decltype(auto) with_number_type(NumberType type, Action&& action) {
  switch (type) {
    case NumberType::f32:
      return action(float{});
    case NumberType::f64:
      return action(double{});
    case NumberType::i8:
      return action(std::int8_t{});
    case NumberType::u8:
      return action(std::uint8_t{});
    case NumberType::i16:
      return action(std::int16_t{});
    case NumberType::u16:
      return action(std::uint16_t{});
    case NumberType::i32:
      return action(std::int32_t{});
    case NumberType::u32:
      return action(std::uint32_t{});
    case NumberType::i64:
      return action(std::int64_t{});
    default:
      return action(std::uint64_t{});
  }
}

/// Of a dataset of numbers of any size, with a few MB of memory. Whole numbers are taken as double.
Statistics read_statistics(const Hdf5Reader& file, const std::string& path);

/// What the bytes of a dataset of numbers come to.
struct ReadCheck {
  std::string sha256;    ///< of the values as they lie in memory
  Index not_finite = 0;  ///< NaN and infinite values
};
ReadCheck read_check(const Hdf5Reader& file, const std::string& path);

/// A part of a dataset of numbers, every value in full: the shortest text that reads back to the same bits,
/// in any locale. In the order of the part.
std::vector<std::string> read_texts(const Hdf5Reader& file, const std::string& path, const Slab& part);

}  // namespace tapeline
