#include "train/config_loader.h"

#include <algorithm>
#include <cctype>

#include "core/error.h"
#include "core/excerpt.h"
#include "core/files.h"
#include "core/utf8.h"
#include "layers/positional/kinds_of_build.h"
#include "train/config_reader.h"
#include "train/config_table.h"
#include "train/config_validation.h"
#include "train/preset.h"
#include "train/stored_kinds.h"

extern "C" char** environ;

namespace tapeline {
namespace {

constexpr std::string_view environment_prefix = "TAPELINE_";

ResolvedConfig defaults() {
  ResolvedConfig resolved{.config = default_config(), .origins = {}};
  for (const ConfigKey& key : config_keys()) resolved.origins[key.name] = "default";
  return resolved;
}

/// The path stands in config.toml and in every checkpoint, as where a value came from: in text that is read
/// back line by line, as UTF-8.
void require_plain_name(const std::string& path) {
  bool plain = true;
  for (std::string_view rest = path; plain && !rest.empty();) {
    const Utf8Front front = utf8_front(rest);
    plain = front.kind == Utf8Front::character && front.code >= 0x20 && front.code != 0x7F;
    rest.remove_prefix(front.bytes);
  }
  require<ConfigError>(
      plain,
      "config \"{}\": the name holds a line break, another control character or letters that "
      "are no UTF-8; rename the file",
      excerpt(path));
}

std::string file_text(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  require_plain_name(path.string());
  const std::string shown = excerpt(path.string(), 1000);
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const bool key = path.string().find('=') != std::string::npos;
  require<ConfigError>(status.type() != fs::file_type::not_found, "config \"{}\": there is no such file{}",
                       shown, key ? "; the value of a key is given by --set KEY=VALUE" : "");
  require<ConfigError>(!error, "config \"{}\": {}", shown, error.message());
  // TOML readers take a folder for an empty table.
  const bool folder = status.type() == fs::file_type::directory;
  require<ConfigError>(status.type() == fs::file_type::regular,
                       "config \"{}\" must be a regular file; it is {}", shown,
                       folder ? "a folder" : "a pipe, device or the like");
  try {
    return read_file(path);
  } catch (const FileError& failure) {
    fail<ConfigError>("config: {}", failure.what());
  }
}

/// "MODEL__WIDTH" -> "model.width".
std::string environment_key(std::string_view variable) {
  std::string key;
  for (std::size_t i = 0; i < variable.size(); ++i) {
    const bool dot = variable.substr(i).starts_with("__") && i > 0 && i + 2 < variable.size();
    key += dot ? '.' : static_cast<char>(std::tolower(static_cast<unsigned char>(variable[i])));
    if (dot) ++i;
  }
  return key;
}

/// The key that a name without two underscores was surely meant for (TAPELINE_MODEL_WIDTH).
const ConfigKey* key_with_one_underscore(std::string_view name) {
  for (const ConfigKey& key : config_keys()) {
    std::string flat = key.name;
    std::ranges::replace(flat, '.', '_');
    if (flat == name) return &key;
  }
  return nullptr;
}

void read_words(ResolvedConfig& resolved, const Assignment& assignment) {
  ConfigReader(
      resolved, [&](unsigned) { return assignment.origin; }, Strictness::words)
      .read(assignment);
}

void read_environment(ResolvedConfig& resolved, const std::pair<std::string, std::string>& setting) {
  const auto& [variable, value] = setting;
  const std::string key = environment_key(std::string_view(variable).substr(environment_prefix.size()));
  const std::string origin = "environment " + excerpt(variable);
  const ConfigKey* meant = key.find('.') == std::string::npos ? key_with_one_underscore(key) : nullptr;
  require<ConfigError>(meant == nullptr, "unknown key \"{}\" ({}); for {} write two underscores for the dot",
                       excerpt(key), origin, meant == nullptr ? "" : meant->name);
  read_words(resolved, {key, value, origin});
}

void read_text(ResolvedConfig& resolved, std::string_view text, const std::string& label, bool of_model) {
  toml::table table = parse_toml(text, label);
  if (of_model) drop_left_out(table, left_out_kinds());
  ConfigReader(resolved, [&](unsigned line) { return fmt::format("{}:{}", label, line); }).read(table);
}

void read_preset(ResolvedConfig& resolved, const Preset& chosen) {
  const std::string origin = fmt::format("preset {}", chosen.name);
  const toml::table table = parse_toml(chosen.text, origin);
  ConfigReader(resolved, [&](unsigned) { return origin; }).read(table);
}

/// Variants given and encodings not: the encodings that stand there by default are not meant.
void settle_encodings(ResolvedConfig& resolved) {
  if (resolved.config.compare.variants.empty() || resolved.origins["compare.encodings"] != "default") return;
  resolved.config.compare.encodings.clear();
  resolved.origins["compare.encodings"] =
      "none beside the variants of " + resolved.origins["compare.variant"];
}

/// A pattern given and the kind not: the kind that stands there by default is not meant.
void settle_kind(ResolvedConfig& resolved) {
  PositionalConfig& positional = resolved.config.positional;
  std::string& origin = resolved.origins["positional.kind"];
  if (origin != "default" || positional.uses(positional.kind)) return;
  positional.kind = positional.pattern.front();
  origin = "the first of positional.layers.pattern";
}

void read_origins(const toml::table& table, const std::string& prefix, ResolvedConfig& into) {
  for (auto&& [key, node] : table) {
    const std::string name =
        prefix.empty() ? std::string(key.str()) : fmt::format("{}.{}", prefix, key.str());
    if (const auto origin = node.value_exact<std::string>()) {
      if (into.origins.contains(name)) into.origins[name] = *origin;
    } else if (const toml::table* inner = node.as_table()) {
      read_origins(*inner, name, into);
    }
  }
}

}  // namespace

std::vector<std::pair<std::string, std::string>> environment_settings() {
  std::vector<std::pair<std::string, std::string>> settings;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (!text.starts_with(environment_prefix) || equals == std::string_view::npos) continue;
    const std::string_view variable = text.substr(0, equals);
    settings.emplace_back(variable, text.substr(equals + 1));
  }
  std::ranges::sort(settings);
  return settings;
}

std::string stored_config_text(const std::filesystem::path& file) {
  std::string text = read_file(file);
  require<FileError>(
      has_seal(text, stored_config_seal),
      "\"{}\" does not end with the digest of what tapeline writes there: it was cut short or "
      "changed, or is of another program or an early build; put it back as it was, or give another "
      "folder",
      file.string());
  return text;
}

ResolvedConfig resolve_config(const ConfigSources& sources) {
  ResolvedConfig resolved = sources.start ? *sources.start : defaults();
  if (!sources.start) read_preset(resolved, preset(sources.preset.empty() ? default_preset : sources.preset));
  if (!sources.file.empty())
    read_text(resolved, sources.file_is_stored ? stored_config_text(sources.file) : file_text(sources.file),
              sources.file.string(), sources.file_is_stored);
  for (const auto& setting : sources.environment) read_environment(resolved, setting);
  for (const Assignment& assignment : sources.sets) read_words(resolved, assignment);
  for (const Assignment& assignment : sources.flags) read_words(resolved, assignment);
  settle_encodings(resolved);
  settle_kind(resolved);
  validate(resolved);
  return resolved;
}

void assign(ResolvedConfig& resolved, const Assignment& assignment) {
  read_words(resolved, assignment);
  settle_kind(resolved);
  validate(resolved);
}

ResolvedConfig parse_resolved(std::string_view text, std::string_view origins, const std::string& place,
                              StoredFor use) {
  ResolvedConfig resolved = defaults();
  read_text(resolved, text, place, use == StoredFor::model);
  settle_kind(resolved);
  if (!origins.empty()) read_origins(parse_toml(origins, place + " origins"), "", resolved);
  validate(resolved);
  return resolved;
}

}  // namespace tapeline
