#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace tapeline {

/// An open file, pipe end or folder of the system's, closed at the end of the scope. A negative number is
/// none: what a failed open() returns may be put in and looked at.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  /// Closes it now.
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }
  /// Takes over another one, after closing its own.
  void reset(int number) {
    close();
    number_ = number;
  }

 private:
  int number_;
};

// Reading and writing that go on after an interruption by a signal.

/// What read() returns: the bytes read, 0 at the end, below 0 with errno set on failure.
ssize_t read_some(int descriptor, char* to, std::size_t bytes);
/// Appends all that there is to read up to the end; false with errno set on failure.
bool read_all(int descriptor, std::string& text);
/// Writes all of `bytes`; false with errno set on failure.
bool write_all(int descriptor, std::string_view bytes);

}  // namespace tapeline
