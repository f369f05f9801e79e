#include <doctest/doctest.h>

#include <string>

#include "core/error.h"
#include "core/seal.h"

using namespace tapeline;

TEST_CASE("seal: a text has it as it was written, and not when a byte was changed, added or cut off") {
  for (const SealForm& form : {comment_seal, member_seal}) {
    const std::string text = sealed("a = 1\nb = 2\n", form);
    CHECK(has_seal(text, form));
    CHECK(has_seal(sealed("", form), form));
    for (std::size_t i = 0; i < text.size(); ++i) {
      CAPTURE(i);
      CHECK_FALSE(has_seal(text.substr(0, i), form));
      CHECK_FALSE(has_seal(text.substr(0, i) + text.substr(i + 1), form));
      std::string changed = text;
      changed[i] = static_cast<char>(changed[i] ^ 1);
      CHECK_FALSE(has_seal(changed, form));
    }
    CHECK_FALSE(has_seal(text + "\n", form));
    CHECK_FALSE(has_seal("c = 3\n" + text, form));
  }
  CHECK_FALSE(has_seal(sealed("x", comment_seal), member_seal));
}

TEST_CASE("seal: an object of JSON stays one, with its digest last") {
  const std::string text = sealed_object("{\n \"a\": 1\n}");
  CHECK(has_seal(text, member_seal));
  CHECK(text.starts_with("{\n \"a\": 1,\n \"sha256\": \""));
  CHECK(text.ends_with("\"\n}\n"));
  CHECK_THROWS_AS(sealed_object("[1, 2]"), StateError);
}
