#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/index.h"

namespace tapeline {

/// The number types that datasets are made of.
enum class NumberType { f32, f64, i8, u8, i16, u16, i32, u32, i64, u64 };

/// "f32", "u8", ...
std::string_view number_type_name(NumberType type);
/// Bytes of one number.
Index number_type_size(NumberType type);

template <class T>
constexpr NumberType number_type_of() {
  if constexpr (std::is_same_v<T, float>)
    return NumberType::f32;
  else if constexpr (std::is_same_v<T, double>)
    return NumberType::f64;
  else if constexpr (std::is_same_v<T, std::int8_t>)
    return NumberType::i8;
  else if constexpr (std::is_same_v<T, std::uint8_t>)
    return NumberType::u8;
  else if constexpr (std::is_same_v<T, std::int16_t>)
    return NumberType::i16;
  else if constexpr (std::is_same_v<T, std::uint16_t>)
    return NumberType::u16;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return NumberType::i32;
  else if constexpr (std::is_same_v<T, std::uint32_t>)
    return NumberType::u32;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return NumberType::i64;
  else {
    static_assert(std::is_same_v<T, std::uint64_t>, "no number type of a dataset");
    return NumberType::u64;
  }
}

/// The value of an attribute. A `bool` is stored as h5py stores its own, an enumeration of FALSE and TRUE;
/// text is UTF-8 of variable length.
using AttributeValue = std::variant<bool, std::int64_t, std::uint64_t, double, std::string>;

/// What a dataset is, without its values.
struct DatasetShape {
  bool text = false;                  ///< strings, not numbers
  NumberType type = NumberType::f32;  ///< of the numbers
  std::vector<Index> extents;         ///< empty: a scalar
  Index count() const;                ///< numbers or strings in all
};

}  // namespace tapeline
