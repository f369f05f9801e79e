#include <doctest/doctest.h>

#include <string>

#include "core/error.h"
#include "experiments/table.h"

using namespace tapeline;

TEST_CASE("columns are aligned and no line ends in blanks") {
  Table table;
  table.column("encoding", Table::Align::left).column("64").column("1024");
  table.row({"rope", "1.577", "2.461"}).rule().row({"learned", "1.712"});
  CHECK(table.text() ==
        "encoding     64   1024\n"
        "----------------------\n"
        "rope      1.577  2.461\n"
        "----------------------\n"
        "learned   1.712\n");
  CHECK_THROWS_AS(table.row({"a", "b", "c", "d"}), StateError);
}

TEST_CASE("widths count letters, not bytes") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("Ä±π") == 3);
  CHECK(display_width("e\xcc\x81") == 1);                 // e and a combining accent
  CHECK(display_width("\xe6\xbc\xa2\xe5\xad\x97") == 4);  // two wide letters
  CHECK(display_width("a\xff") == 2);                     // not UTF-8
  Table table;
  table.column("x", Table::Align::left).column("y");
  table.row({"±", "1"}).row({"ab", "2"});
  CHECK(table.text() == "x   y\n-----\n±   1\nab  2\n");
}

TEST_CASE("a table wider than the terminal breaks its texts, never its numbers") {
  Table table;
  table.column("name", Table::Align::left).column("meaning", Table::Align::left).column("value");
  table.row({"a", "one two three four five six", "123456789"});
  const std::string text = table.text(30);
  CHECK(text ==
        "name  meaning            value\n"
        "------------------------------\n"
        "a     one two three  123456789\n"
        "      four five six\n");
  CHECK(table.text(5).find("123456789") != std::string::npos);
}

TEST_CASE(
    "a table wider than the terminal breaks headers that are wider than what stands below, on the rule") {
  Table table;
  table.column("length").column("scored tokens").column("nats/token").column("95 % of text");
  table.row({"16", "36864", "4.9919", "4.9 to 5.1"});
  const std::string one_line =
      "length  scored tokens  nats/token  95 % of text\n"
      "-----------------------------------------------\n"
      "    16          36864      4.9919    4.9 to 5.1\n";
  CHECK(table.text() == one_line);
  CHECK(table.text(47) == one_line);
  CHECK(table.text(34) ==
        "        scored   nats/     95 % of\n"
        "length  tokens   token        text\n"
        "----------------------------------\n"
        "    16   36864  4.9919  4.9 to 5.1\n");
}

TEST_CASE("texts break at blanks, longer words anywhere") {
  CHECK(wrapped("one two", 10) == std::vector<std::string>{"one two"});
  CHECK(wrapped("one two", 5) == std::vector<std::string>{"one", "two"});
  CHECK(wrapped("abcdefgh", 3) == std::vector<std::string>{"abc", "def", "gh"});
  CHECK(wrapped("", 3) == std::vector<std::string>{""});
}
