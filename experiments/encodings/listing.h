#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "experiments/encodings/subject.h"

namespace tapeline {

/// The tables of encodings, scalings and wrappers, with what each adds to a model of this configuration.
/// `width`: columns; 0: no limit.
std::string subjects_text(const Config& config, std::size_t width);
nlohmann::ordered_json subjects_json(const Config& config);

/// One of them in full, with its options.
std::string subject_text(const Config& config, const EncodingSubject& subject, std::size_t width);
nlohmann::ordered_json subject_json(const Config& config, const EncodingSubject& subject);

}  // namespace tapeline
