// Names: 1 to 255 bytes of UTF-8 without control bytes, compared byte by byte.
#include "wallock/name.hpp"

#include <array>
#include <set>
#include <string>
#include <type_traits>

#include "catch.hpp"
#include "unit/values_support.hpp"

using namespace wallock;
using wallock::test::bytes;
using wallock::test::code_of;
using wallock::test::field_of;

namespace {

struct Text {
  std::string text;
  bool is_name;
};

std::vector<Text> texts() {
  return {
      {"a", true},
      {"account/17", true},
      {"with space", true},
      {" ", true},
      {"7", true},
      {std::string(255, 'x'), true},
      {"gr\xC3\xBC\xC3\x9F"
       "e",
       true},
      {"\xF0\x9F\x94\x92", true},          // an astral character
      {"\xF4\x8F\xBF\xBF", true},          // U+10FFFF
      {"'; DROP TABLE leases; --", true},  // a name is data wherever it goes
      {"\xC2\x80", true},                  // U+0080 is no control byte
      {"", false},
      {std::string(256, 'x'), false},
      {bytes("a\0b"), false},
      {bytes("\0"), false},
      {"a\nb", false},
      {"a\x1f", false},
      {"\x7f", false},
      {"\xFF", false},
      {"\xC3", false},              // cut short
      {"\xC0\xAF", false},          // overlong
      {"\xED\xA0\x80", false},      // a surrogate
      {"\xF4\x90\x80\x80", false},  // above U+10FFFF
  };
}

template <class T>
void check_texts(std::string_view label) {
  for (const Text& c : texts()) {
    CAPTURE(label, c.text);
    const auto name = T::parse(c.text);
    if (c.is_name) {
      REQUIRE(name);
      CHECK(name->str() == c.text);
      CHECK(to_string(*name) == c.text);
    } else {
      CHECK(code_of(name) == Errc::invalid_name);
      CHECK(field_of(name) == label);
    }
    CHECK(Given<T>(c.text).check() == name);
  }
}

}  // namespace

TEST_CASE("a name is 1 to 255 bytes of UTF-8 without control bytes") {
  check_texts<ResourceName>("resource");
  check_texts<HolderId>("holder");
  check_texts<ActionId>("action_id");
  check_texts<Destination>("destination");
}

TEST_CASE("every byte below 0x20, and 0x7f, is refused in a name") {
  for (int byte = 0; byte < 0x80; ++byte) {
    CAPTURE(byte);
    const std::string text = "a" + std::string(1, static_cast<char>(byte)) + "b";
    CHECK(ResourceName::parse(text).has_value() == (byte >= 0x20 && byte != 0x7f));
  }
}

// Case L40: names are texts, whatever they look like; none collides with another as a number would.
TEST_CASE("names are told apart byte by byte") {
  const std::array different{"7",        "07",        "7.0", "7 ", "a", "A",
                             "\xC3\xA4", "a\xCC\x88", "-0",  "0",  "00"};
  std::set<ResourceName> names;
  for (const char* text : different)
    names.insert(test::resource(text));
  CHECK(names.size() == different.size());
}

TEST_CASE("names are ordered by their bytes, those above 0x7f included") {
  CHECK(test::resource("a") < test::resource("b"));
  CHECK(test::resource("a") < test::resource("aa"));
  CHECK(test::resource("z") < test::resource("\xC3\xA4"));
  CHECK((test::resource("a") <=> test::resource("a")) == std::strong_ordering::equal);
}

TEST_CASE("a null pointer given for a name is an empty one, and refused") {
  const char* nothing = nullptr;
  CHECK(code_of(Given<ResourceName>(nothing).check()) == Errc::invalid_name);
}

TEST_CASE("a checked name may be given where an unchecked one is taken") {
  const ResourceName name = test::resource("account/17");
  CHECK(Given<ResourceName>(name).check().value() == name);
  CHECK(Given<ResourceName>(name) == Given<ResourceName>("account/17"));
}

TEST_CASE("one kind of name never stands for another") {
  STATIC_REQUIRE_FALSE(std::is_constructible_v<ResourceName, HolderId>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<Given<ResourceName>, HolderId>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<HolderId, std::string>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<ResourceName, std::string>);
  STATIC_REQUIRE_FALSE(std::is_default_constructible_v<ResourceName>);
}
