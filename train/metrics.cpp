#include "train/metrics.h"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "core/error.h"
#include "core/files.h"

namespace tapeline {

namespace {

// The lines of steps up to `step`.
std::string lines_up_to(const std::filesystem::path& path, Index step) {
  std::string kept;
  visit_metrics(path, [&](const std::string& line, const nlohmann::json& object) {
    const auto number = object.find("step");
    if (number == object.end() || !number->is_number_integer() || number->get<Index>() > step) return false;
    kept += line;
    kept += '\n';
    return true;
  });
  return kept;
}

}  // namespace

MetricsFile::MetricsFile(std::filesystem::path path, Index keep_up_to) : path_(std::move(path)) {
  // Replaced whole: a kill at this moment loses no line.
  write_file(path_, keep_up_to > 0 ? lines_up_to(path_, keep_up_to) : std::string());
  file_.open(path_, std::ios::binary | std::ios::app);
  require<FileError>(file_.good(),
                     "\"{}\": metrics cannot be written; is the folder writable and the disk full?",
                     path_.string());
}

void MetricsFile::write(std::initializer_list<Metric> line) {
  nlohmann::ordered_json json;
  for (const auto& [name, value] : line) {
    const double* number = std::get_if<double>(&value);
    json[std::string(name)] = number != nullptr
                                  ? json_number(*number)
                                  : std::visit([](auto held) { return nlohmann::ordered_json(held); }, value);
  }
  file_ << json.dump() << '\n' << std::flush;
  require<FileError>(file_.good(), "\"{}\": a line of metrics could not be written; is the disk full?",
                     path_.string());
}

void visit_metrics(const std::filesystem::path& path,
                   const std::function<bool(const std::string& line, const nlohmann::json& object)>& visit) {
  if (!std::filesystem::exists(path)) return;
  std::istringstream file(read_file(path));
  for (std::string line; std::getline(file, line);) {
    const nlohmann::json object = nlohmann::json::parse(line, nullptr, false);
    if (!object.is_object() || !visit(line, object)) return;
  }
}

nlohmann::ordered_json json_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

}  // namespace tapeline
