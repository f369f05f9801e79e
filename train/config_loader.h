#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/seal.h"
#include "train/config.h"

namespace tapeline {

/// One key given outside a file.
struct Assignment {
  std::string key;     ///< "model.width"
  std::string value;   ///< read as TOML, else as a bare string; a list also as words between commas
  std::string origin;  ///< "--set", "--seeds", "environment TAPELINE_MODEL__WIDTH"
};

/// A configuration with every value present, and where each came from, by key: "default", "preset toy",
/// "my.toml:12", "environment TAPELINE_MODEL__WIDTH", "--set", "--seeds".
struct ResolvedConfig {
  Config config;
  std::map<std::string, std::string> origins;
};

/// What a stored configuration is read for. In a build without some encodings, what one model does not need
/// of them is left aside (stored_kinds.h); a comparison needs all that it names.
enum class StoredFor { model, comparison };

/// What a configuration is resolved from, weakest first: defaults < preset < file < environment < --set < own
/// flags.
struct ConfigSources {
  /// Stands where defaults and preset would: the configuration of the checkpoint that a run starts from.
  std::optional<ResolvedConfig> start;
  std::string preset;           ///< empty: "toy"
  std::filesystem::path file;   ///< empty: none; else a regular file of TOML
  bool file_is_stored = false;  ///< it is the config.toml of a model's run folder
  std::vector<std::pair<std::string, std::string>> environment;  ///< TAPELINE_…; see environment_settings()
  std::vector<Assignment> sets;
  std::vector<Assignment> flags;
};

/// Every TAPELINE_… variable of the process that is not for the program itself.
std::vector<std::pair<std::string, std::string>> environment_settings();

/// Resolves. Strict: throws ConfigError for an unknown key, a wrong type or a value out of range, with key,
/// place (file:line) and the nearest right name, and for values that do not fit together.
ResolvedConfig resolve_config(const ConfigSources& sources);

/// How the config.toml of a run folder ends.
inline constexpr SealForm stored_config_seal = comment_seal;
/// The text of a run folder's config.toml. Throws FileError when it is not as it was written: one that was
/// cut short would give its missing keys the defaults.
std::string stored_config_text(const std::filesystem::path& file);

/// Sets one more key of a resolved config (evaluate's --positional) and checks the whole again.
void assign(ResolvedConfig& resolved, const Assignment& assignment);

/// The whole resolved config as TOML, in a stable order; parse_resolved() gives back every bit of it.
std::string resolved_text(const Config& config);
/// The same with each value's origin in a comment behind it, for people to read.
std::string annotated_text(const ResolvedConfig& resolved);
/// The origins as TOML: one string a key.
std::string origin_text(const ResolvedConfig& resolved);
/// Reads the two texts that stand in a checkpoint, or the one of a run folder's config.toml (its origins are
/// comments, so `origins` is empty); `place` names them in errors. Values without an origin are said to come
/// from `place`; keys that the text lacks have their defaults.
ResolvedConfig parse_resolved(std::string_view text, std::string_view origins, const std::string& place,
                              StoredFor use = StoredFor::model);

/// A key that two configs differ in, with both values as TOML.
struct ConfigDifference {
  std::string key, first, second;
};
/// In the order of the key table; equal configs give none.
std::vector<ConfigDifference> config_difference(const Config& first, const Config& second);
/// The same between a run and what it is to go on with: the number of threads may change, which whoever goes
/// on is told costs the last bits.
std::vector<ConfigDifference> run_difference(const Config& first, const Config& second);
/// The differences on one line, `between` the two values of each: `model.width 128, now 256; train.steps 700,
/// now 10`.
std::string describe(const std::vector<ConfigDifference>& differences, std::string_view between = ", now ");

/// All variants a comparison trains: compare.encodings, each a variant of that name which sets
/// positional.kind, then [[compare.variant]].
std::vector<Variant> all_variants(const Config& config);
/// `config` with the changes of a variant or evaluation made and checked. Throws ConfigError that names it.
Config with_variant(const Config& config, const Variant& variant);
/// The same with origins: `variant "rope500"`.
ResolvedConfig with_variant(const ResolvedConfig& resolved, const Variant& variant);

/// The names of the variants whose models an evaluation is of, in the order of `variants` (all of them):
/// those it names; when it names none, every one with an encoding that has the keys which it changes. Throws
/// ConfigError for a name that no variant has or that is given twice, and when there is no such variant.
std::vector<std::string> evaluated_variants(const Config& config, const std::vector<Variant>& variants,
                                            const Variant& evaluation);
/// The configuration of a model trained with `trained` under an evaluation. Throws ConfigError that names the
/// evaluation, the key and its place, for what cannot change after training.
Config with_evaluation(const Config& trained, const Variant& evaluation);
/// How an error speaks of a variant or evaluation: `evaluation "ntk" (my.toml:7)`.
std::string called(std::string_view what, const Variant& variant);

/// Whether a model trained with `trained` can be run with `changed`. Throws ConfigError that begins with
/// `place`, names the first key that cannot change after training, and says which can: every key declares it
/// itself (ConfigKey::after_training), and of other kinds than the trained one none can.
void require_changeable(const Config& trained, const Config& changed, std::string_view place);

}  // namespace tapeline
