#pragma once

#include <unistd.h>

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

}  // namespace tapeline
