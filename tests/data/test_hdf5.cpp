#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "data/hdf5_reader.h"
#include "data/hdf5_writer.h"

namespace tapeline {
namespace {

std::string text_of_length(std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += "length " + std::to_string(text.size()) + " é\n";
  text.resize(bytes - 2);
  return text + "ok";
}

template <class T>
void write_extremes(Hdf5Writer& writer, const std::string& path) {
  const std::vector<T> values = {std::numeric_limits<T>::lowest(), T(0), T(1), T(2), T(3),
                                 std::numeric_limits<T>::max()};
  writer.numbers(path, std::span<const T>(values), {2, 3});
}

template <class T>
void check_extremes(const Hdf5Reader& reader, const std::string& path) {
  CAPTURE(path);
  const std::vector<T> values = {std::numeric_limits<T>::lowest(), T(0), T(1), T(2), T(3),
                                 std::numeric_limits<T>::max()};
  const DatasetShape shape = reader.shape(path);
  CHECK_FALSE(shape.text);
  CHECK(shape.type == number_type_of<T>());
  CHECK(shape.extents == std::vector<Index>{2, 3});
  CHECK(reader.numbers<T>(path) == values);
}

template <class Do>
void for_every_type(Do&& action) {
  action.template operator()<float>("/types/f32");
  action.template operator()<double>("/types/f64");
  action.template operator()<std::int8_t>("/types/i8");
  action.template operator()<std::uint8_t>("/types/u8");
  action.template operator()<std::int16_t>("/types/i16");
  action.template operator()<std::uint16_t>("/types/u16");
  action.template operator()<std::int32_t>("/types/i32");
  action.template operator()<std::uint32_t>("/types/u32");
  action.template operator()<std::int64_t>("/types/i64");
  action.template operator()<std::uint64_t>("/types/u64");
}

std::string everything() {
  Hdf5Writer writer;
  writer.attribute("/", "format", std::string("tapeline"));
  writer.attribute("/", "yes", true);
  writer.attribute("/", "no", false);
  writer.attribute("/", "below", -5);
  writer.attribute("/", "seed", std::numeric_limits<std::uint64_t>::max());
  writer.attribute("/", "rate", 2e-3);
  for_every_type([&]<class T>(const std::string& path) { write_extremes<T>(writer, path); });
  // Not the order of the alphabet, and more than fit into a compact group.
  for (const int i : {5, 2, 9, 0, 1, 3, 4, 6, 7, 8, 11, 10})
    writer.number("/order/" + std::to_string(i), static_cast<std::int64_t>(i));
  writer.group("/empty");
  writer.numbers("/none", std::vector<float>{});
  writer.text("/texts/short", "Größe");
  writer.text("/texts/empty", "");
  writer.text("/texts/long", text_of_length(100'000));
  writer.texts("/texts/several", {"a", "", "ccc"});
  writer.attribute("/texts/short", "long", text_of_length(90'000));
  writer.attribute("/texts", "note", std::string("of a group"));
  writer.numbers("/special",
                 std::vector<double>{std::nan(""), std::numeric_limits<double>::infinity(), -0.0});
  return writer.finish();
}

TEST_CASE("hdf5: what was written is read back, every type of it") {
  const Hdf5Reader reader = Hdf5Reader::from_bytes(everything(), "everything");
  for_every_type([&]<class T>(const std::string& path) { check_extremes<T>(reader, path); });
  CHECK(reader.label("/", "format") == "tapeline");
  CHECK(reader.flag("/", "yes"));
  CHECK_FALSE(reader.flag("/", "no"));
  CHECK(reader.integer("/", "below") == -5);
  CHECK(reader.unsigned_integer("/", "seed") == std::numeric_limits<std::uint64_t>::max());
  CHECK(reader.real("/", "rate") == 2e-3);
  CHECK(reader.real("/", "below") == -5);
  CHECK(reader.text("/texts/short") == "Größe");
  CHECK(reader.text("/texts/empty").empty());
  CHECK(reader.text("/texts/long") == text_of_length(100'000));
  CHECK(reader.texts("/texts/several") == std::vector<std::string>{"a", "", "ccc"});
  CHECK(reader.label("/texts/short", "long") == text_of_length(90'000));
  CHECK(reader.attribute_names("/texts") == std::vector<std::string>{"note"});
  CHECK(reader.has_attribute("/texts", "note"));
  CHECK_FALSE(reader.has_attribute("/texts", "other"));
  CHECK(reader.numbers<float>("/none").empty());
  const std::vector<double> special = reader.numbers<double>("/special");
  CHECK(std::isnan(special[0]));
  CHECK(std::isinf(special[1]));
  CHECK(std::signbit(special[2]));
}

TEST_CASE("hdf5: listings show the order of writing") {
  const Hdf5Reader reader = Hdf5Reader::from_bytes(everything(), "everything");
  CHECK(reader.children("/order") ==
        std::vector<std::string>{"5", "2", "9", "0", "1", "3", "4", "6", "7", "8", "11", "10"});
  CHECK(reader.children("/") ==
        std::vector<std::string>{"types", "order", "empty", "none", "texts", "special"});
  CHECK(reader.children("/empty").empty());
  CHECK(reader.datasets("/texts") ==
        std::vector<std::string>{"/texts/short", "/texts/empty", "/texts/long", "/texts/several"});
  CHECK(reader.datasets("/").size() == 10 + 12 + 1 + 4 + 1);
  CHECK(reader.contains("/order/5"));
  CHECK_FALSE(reader.contains("/order/50"));
  CHECK_FALSE(reader.contains("/nowhere/5"));
  CHECK_FALSE(reader.contains("/none/below a dataset"));
  CHECK(reader.is_group("/empty"));
  CHECK_FALSE(reader.is_group("/none"));
}

TEST_CASE("hdf5: equal content gives equal bytes") { CHECK(everything() == everything()); }

TEST_CASE("hdf5: numbers lie where raw() says, in a large file too") {
  std::vector<std::int32_t> values(2'000'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i * 7);
  Hdf5Writer writer;
  writer.text("/note", "in front");
  writer.numbers("/values", values);
  const Hdf5Reader reader = Hdf5Reader::from_bytes(writer.finish(), "large");
  const std::span<const unsigned char> raw = reader.raw("/values");
  REQUIRE(raw.size() == values.size() * sizeof(std::int32_t));
  CHECK(std::memcmp(raw.data(), values.data(), raw.size()) == 0);
}

TEST_CASE("hdf5: 3117 names and 30000 distinct characters") {
  Hdf5Writer writer;
  std::vector<std::string> characters;
  std::string joined;
  for (unsigned code = 0x4e00; code < 0x4e00 + 30'000; ++code) {
    const std::string character = {static_cast<char>(0xe0 | code >> 12),
                                   static_cast<char>(0x80 | (code >> 6 & 63)),
                                   static_cast<char>(0x80 | (code & 63))};
    characters.push_back(character);
    joined += character;
  }
  writer.texts("/tokenizer/symbols", characters);
  writer.attribute("/tokenizer", "joined", joined);
  for (int i = 0; i < 3117; ++i)
    writer.number("/model/blocks/" + std::to_string(i) + "/weight", static_cast<float>(i));
  const Hdf5Reader reader = Hdf5Reader::from_bytes(writer.finish(), "names");
  CHECK(reader.texts("/tokenizer/symbols") == characters);
  CHECK(reader.label("/tokenizer", "joined") == joined);
  CHECK(reader.children("/model/blocks").size() == 3117);
  CHECK(reader.number<float>("/model/blocks/3116/weight") == 3116);
}

TEST_CASE("hdf5: a slash in a name is a group; what cannot stand is refused by name") {
  Hdf5Writer writer;
  writer.number("/model/a/b", 1.0f);
  CHECK_THROWS_WITH_AS(writer.number("/model/a", 2.0f),
                       "hdf5: dataset \"/model/a\" cannot be written: the name is taken; names must differ",
                       FileError);
  writer.number("/model/c", 3.0f);
  CHECK_THROWS_WITH_AS(
      writer.number("/model/c/d", 4.0f),
      "hdf5: group \"/model/c\" cannot be made: there is a dataset of that name, and nothing can "
      "stand below it",
      FileError);
  for (const char* name : {"", "/", "/a//b", "/a/", "/./a", "/a/.."})
    CHECK_THROWS_AS(writer.number(name, 5.0f), FileError);
  CHECK_THROWS_AS(writer.text("/zero", std::string_view("a\0b", 3)), FileError);
  CHECK_THROWS_AS(writer.numbers("/shape", std::span<const float>(), {2}), FileError);
  CHECK_THROWS_AS(writer.attribute("/nowhere", "name", 1.0), FileError);
  // The refusals did no harm.
  const Hdf5Reader reader = Hdf5Reader::from_bytes(writer.finish(), "slashes");
  CHECK(reader.datasets("/") == std::vector<std::string>{"/model/a/b", "/model/c"});
  CHECK(reader.number<float>("/model/a/b") == 1);
}

TEST_CASE("hdf5: a reader's errors name file, dataset, found and expected") {
  const Hdf5Reader reader = Hdf5Reader::from_bytes(everything(), "f.h5");
  std::vector<float> room(16);
  CHECK_THROWS_WITH_AS(reader.numbers<float>("/none/at/all"),
                       "cannot read \"/none/at/all\" of \"f.h5\": there is nothing of that name in the file",
                       FileError);
  CHECK_THROWS_WITH_AS(reader.numbers<float>("/types/f64"),
                       "cannot read \"/types/f64\" of \"f.h5\": it holds f64; f32 was expected", FileError);
  CHECK_THROWS_WITH_AS(reader.read_into("/types/f32", std::span<float>(room).first(6), {6}),
                       "cannot read \"/types/f32\" of \"f.h5\": its shape is [2, 3]; [6] was expected",
                       FileError);
  CHECK_THROWS_WITH_AS(reader.numbers<float>("/texts/short"),
                       "cannot read \"/texts/short\" of \"f.h5\": it holds text; f32 was expected",
                       FileError);
  CHECK_THROWS_WITH_AS(reader.text("/types/f32"),
                       "cannot read \"/types/f32\" of \"f.h5\": it holds f32; text was expected", FileError);
  CHECK_THROWS_WITH_AS(reader.numbers<float>("/types"),
                       "cannot read \"/types\" of \"f.h5\": it is a group; a dataset was expected",
                       FileError);
  CHECK_THROWS_WITH_AS(reader.flag("/", "rate"),
                       "cannot read attribute \"rate\" of \"/\" of \"f.h5\": it is not true or false",
                       FileError);
  CHECK_THROWS_WITH_AS(reader.label("/", "missing"),
                       "cannot read attribute \"missing\" of \"/\" of \"f.h5\": there is none of that name",
                       FileError);
  CHECK_THROWS_AS(reader.read_into("/types/f32", std::span<float>(room), {2, 3}), StateError);
}

TEST_CASE("hdf5: bytes that are no HDF5 file are refused") {
  CHECK_THROWS_AS(Hdf5Reader::from_bytes("", "empty"), FileError);
  CHECK_THROWS_AS(Hdf5Reader::from_bytes(std::string(4096, 'x'), "letters"), FileError);
}

TEST_CASE("hdf5: writers and readers do not meet in the library, though all are open at once") {
  Hdf5Writer first, second;
  first.number("/value", 1.0);
  second.number("/value", 2.0);
  const Hdf5Reader one = Hdf5Reader::from_bytes(first.finish(), "one");
  const Hdf5Reader two = Hdf5Reader::from_bytes(second.finish(), "two");
  CHECK(one.number<double>("/value") == 1);
  CHECK(two.number<double>("/value") == 2);
}

}  // namespace
}  // namespace tapeline
