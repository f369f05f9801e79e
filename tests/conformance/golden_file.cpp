#include "tests/conformance/golden_file.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/excerpt.h"
#include "core/files.h"

namespace tapeline::conformance {

namespace {

using Json = nlohmann::ordered_json;

/// Far above any case, far below what a wrong shape could ask for.
constexpr Index most_numbers = Index{1} << 28;

const Json& member(const Json& object, const char* name, const std::string& where) {
  require<DataError>(object.is_object(), "{} holds {}; an object is expected", where, object.type_name());
  const auto found = object.find(name);
  require<DataError>(found != object.end(), "{} has no \"{}\"", where, name);
  return *found;
}

GoldenArray read_array(const Json& stored, const std::string& where) {
  GoldenArray array;
  const Json& shape = member(stored, "shape", where);
  require<DataError>(shape.is_array(), "{}: \"shape\" is {}; it must be a list", where, shape.type_name());
  Index size = 1;
  for (const Json& extent : shape) {
    const bool right = extent.is_number_integer() && extent.get<Index>() >= 0;
    require<DataError>(right, "{}: shape {}; every extent must be a whole number, 0 or above", where,
                       excerpt(shape.dump()));
    array.shape.push_back(extent.get<Index>());
    require<DataError>(array.shape.back() == 0 || size <= most_numbers / array.shape.back(),
                       "{}: shape {}; at most {} numbers", where, excerpt(shape.dump()), most_numbers);
    size *= array.shape.back();
  }
  const Json& data = member(stored, "data", where);
  require<DataError>(data.is_array(), "{}: \"data\" is {}; it must be a list", where, data.type_name());
  require<DataError>(static_cast<Index>(data.size()) == size, "{}: {} numbers for shape {}; it needs {}",
                     where, data.size(), excerpt(shape.dump()), size);
  array.numbers.reserve(data.size());
  for (const Json& number : data) {
    require<DataError>(number.is_number() && std::isfinite(number.get<double>()),
                       "{}: \"data\" holds {}; every element must be a finite number", where,
                       excerpt(number.dump()));
    array.numbers.push_back(number.get<double>());
  }
  return array;
}

GoldenCase read_case(const std::string& name, const Json& stored, const std::string& file) {
  const std::string where = fmt::format("{}: case \"{}\"", file, excerpt(name));
  GoldenCase read{.name = name, .params = {}, .arrays = {}};
  const Json& params = member(stored, "params", where);
  require<DataError>(params.is_object(), "{}: \"params\" is {}; it must be an object", where,
                     params.type_name());
  read.params = nlohmann::json(params);
  require<DataError>(read.knows("encoding") && read.params["encoding"].is_string(),
                     "{}: its params name no \"encoding\"", where);
  const Json& arrays = member(stored, "arrays", where);
  require<DataError>(arrays.is_object(), "{}: \"arrays\" is {}; it must be an object", where,
                     arrays.type_name());
  for (const auto& [array, value] : arrays.items()) {
    read.arrays.emplace_back(array,
                             read_array(value, fmt::format("{}, array \"{}\"", where, excerpt(array))));
  }
  return read;
}

/// The parameter as T; `right` says whether its JSON type serves.
template <class T>
T parameter(const GoldenCase& of, std::string_view name, const std::optional<T>& otherwise,
            bool (*right)(const nlohmann::json&), std::string_view expected) {
  const auto found = of.params.find(name);
  if (found == of.params.end()) {
    require<DataError>(otherwise.has_value(), "its params have no \"{}\"", name);
    return *otherwise;
  }
  require<DataError>(right(*found), "its \"{}\" is {}; it must be {}", name, excerpt(found->dump()),
                     expected);
  return found->get<T>();
}

bool is_whole(const nlohmann::json& value) {
  if (value.is_number_integer()) return true;
  return value.is_number_float() && value.get<double>() == std::nearbyint(value.get<double>()) &&
         std::abs(value.get<double>()) < 9e15;
}

}  // namespace

std::vector<Index> GoldenArray::whole(std::string_view what) const {
  std::vector<Index> result;
  for (const double number : numbers) {
    require<DataError>(number == std::nearbyint(number) && std::abs(number) < 9e15,
                       "its \"{}\" holds {}; whole numbers are needed", what, number);
    result.push_back(static_cast<Index>(number));
  }
  return result;
}

const GoldenArray* GoldenCase::find(std::string_view wanted) const {
  for (const auto& [found, value] : arrays) {
    if (found == wanted) return &value;
  }
  return nullptr;
}

const GoldenArray& GoldenCase::array(std::string_view wanted) const {
  const GoldenArray* found = find(wanted);
  require<DataError>(found != nullptr, "it has no array \"{}\"", wanted);
  return *found;
}

bool GoldenCase::knows(std::string_view param) const { return params.find(param) != params.end(); }

double GoldenCase::number(std::string_view param, std::optional<double> otherwise) const {
  return parameter<double>(
      *this, param, otherwise, [](const nlohmann::json& value) { return value.is_number(); }, "a number");
}

Index GoldenCase::integer(std::string_view param, std::optional<Index> otherwise) const {
  return parameter<Index>(*this, param, otherwise, is_whole, "a whole number");
}

bool GoldenCase::flag(std::string_view param, std::optional<bool> otherwise) const {
  return parameter<bool>(
      *this, param, otherwise, [](const nlohmann::json& value) { return value.is_boolean(); },
      "true or false");
}

std::string GoldenCase::text(std::string_view param, std::optional<std::string> otherwise) const {
  return parameter<std::string>(
      *this, param, otherwise, [](const nlohmann::json& value) { return value.is_string(); }, "a text");
}

const GoldenCase* GoldenFile::find(std::string_view name) const {
  const auto found = std::ranges::find(cases, name, &GoldenCase::name);
  return found == cases.end() ? nullptr : &*found;
}

GoldenFile read_golden_file(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  GoldenFile file{.path = path, .cases = {}};
  Json stored;
  try {
    stored = Json::parse(text);
  } catch (const Json::exception& error) {
    fail<DataError>("{}: no JSON: {}", path.string(), excerpt(error.what(), 200));
  }
  const Json& cases = member(stored, "cases", path.string());
  require<DataError>(cases.is_object(), "{}: \"cases\" is {}; it must be an object", path.string(),
                     cases.type_name());
  for (const auto& [name, value] : cases.items()) file.cases.push_back(read_case(name, value, path.string()));
  require<DataError>(!file.cases.empty(), "{} holds no case", path.string());
  return file;
}

}  // namespace tapeline::conformance
