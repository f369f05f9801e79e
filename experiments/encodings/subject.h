#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "layers/positional/registry.h"
#include "layers/positional/wrappers.h"
#include "train/config.h"

namespace tapeline {

/// What `tapeline encodings` tells of: an encoding, a scaling of RoPE, or what goes around any encoding.
struct EncodingSubject {
  const EncodingKind* encoding = nullptr;
  const WrapperKind* scaling = nullptr;
  const WrapperKind* wrapper = nullptr;

  std::string_view name() const;
  std::string_view role() const;  ///< "encoding", "scaling", "wrapper"
};

/// All of this build: encodings, scalings, wrappers, each in the order of its table.
std::vector<EncodingSubject> all_subjects();
/// Throws ConfigError with the nearest name for a name that is none.
EncodingSubject find_subject(const std::string& name);

/// `config` with it in use: the kind in every layer, the scaling or wrapper set. Where a setting has no value
/// that does anything, one that shows what it is; then `note` says so. An encoding that the configuration
/// has in some layers stays where it is if `keep_pattern`. Nothing is checked.
Config with_subject(const Config& config, const EncodingSubject& subject, bool keep_pattern, Index length,
                    std::string* note = nullptr);
/// The same without any scaling of RoPE; nullopt where there is none.
std::optional<Config> without_scaling(const Config& config);

/// The numbers to train for it in a model of this configuration.
struct SubjectCount {
  Index own = 0;        ///< of encoding, scaling or wrapper
  Index model = 0;      ///< of the whole model with it
  std::string refusal;  ///< why there is no such model; empty: there is
};
SubjectCount count_subject(const Config& config, const EncodingSubject& subject);

}  // namespace tapeline
