#pragma once

#include <string>
#include <string_view>

namespace tapeline {

/// The King James Bible as Debian packages it (bible-kjv, bible-kjv-text), read through its program: 31,102
/// verses, one a line, without the references in front of them (easy counters that distort curves by
/// position). 4.14 MB. Throws FileError naming the packages if they are missing.
std::string read_kjv();

/// The same from what the program wrote.
std::string strip_references(std::string_view lines);

}  // namespace tapeline
