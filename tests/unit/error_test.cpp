// The error codes, and what an error shows.
#include "wallock/error.hpp"

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "catch.hpp"
#include "wallock/result.hpp"

using namespace wallock;

namespace {

// The enumerators as the header spells them, so that none can be forgotten here.
std::map<std::string, int> enumerators() {
  std::ifstream file(WALLOCK_TEST_DATA_DIR "/../../include/wallock/error.hpp");
  std::stringstream header;
  header << file.rdbuf();
  const std::string text = header.str();
  const std::size_t begin = text.find("enum class Errc");
  const std::string body = text.substr(begin, text.find("};", begin) - begin);
  const std::regex line(R"((\w+) = (\d+),)");
  std::map<std::string, int> codes;
  for (std::sregex_iterator i(body.begin(), body.end(), line), end; i != end; ++i)
    codes[(*i)[1]] = std::stoi((*i)[2]);
  return codes;
}

}  // namespace

TEST_CASE("every error code has its own number, its own name, a summary and an advice") {
  const auto codes = enumerators();
  REQUIRE(codes.size() > 50);
  std::set<int> numbers;
  for (const auto& [name, number] : codes) {
    CAPTURE(name, number);
    const ErrcInfo info = describe(static_cast<Errc>(number));
    CHECK(info.name == name);
    CHECK_FALSE(info.summary.empty());
    CHECK_FALSE(info.advice.empty());
    CHECK(numbers.insert(number).second);
  }
  for (int number = 0; number < 1000; ++number) {
    CAPTURE(number);
    CHECK((to_string(static_cast<Errc>(number)) != "unknown") == (numbers.count(number) == 1));
  }
}

TEST_CASE("the hundreds of a code give its class") {
  const std::map<int, ErrorClass> classes{{1, ErrorClass::transient},
                                          {2, ErrorClass::deterministic},
                                          {3, ErrorClass::business},
                                          {4, ErrorClass::security}};
  for (const auto& [name, number] : enumerators()) {
    CAPTURE(name);
    CHECK(Error(static_cast<Errc>(number)).error_class() == classes.at(number / 100));
  }
  CHECK(error_class(static_cast<Errc>(999)) == ErrorClass::security);
  CHECK(to_string(ErrorClass::transient) == "transient");
  CHECK(to_string(ErrorClass::deterministic) == "deterministic");
  CHECK(to_string(ErrorClass::business) == "business");
  CHECK(to_string(ErrorClass::security) == "security");
}

TEST_CASE("INV-09 an error shows only safe facts") {
  for (const auto& [name, number] : enumerators()) {
    CAPTURE(name);
    const Error error(static_cast<Errc>(number));
    const std::string expected = name + " (" + std::string(to_string(error.error_class())) +
                                 "): " + std::string(error.summary()) + "; " +
                                 std::string(error.advice());
    CHECK(to_string(error) == expected);
    CHECK(expected.find_first_of("\n\r\t") == std::string::npos);
  }
}

TEST_CASE("INV-09 every fact of an error is one that the caller knows, and all are shown") {
  const Error error(Errc::lease_held, {.field = "f",
                                       .found = "d",
                                       .action = "a",
                                       .resource = "r",
                                       .holder = "h",
                                       .token = FencingToken::of(1, 2),
                                       .fence = FencingToken::of(1, 3),
                                       .retry_at = Instant(std::chrono::microseconds(1'500'001)),
                                       .limit = -4,
                                       .native = 5});
  CHECK(
      to_string(error) ==
      "lease_held (business): another holder has the lease [field=f found=d action=a resource=r "
      "holder=h token=1.2 fence=1.3 retry_at=1501ms limit=-4 native=5]; wait, or try again later");
}

TEST_CASE("a limit is shown with its side and its unit") {
  const auto words = [](std::int64_t limit, Bound bound, Unit unit) {
    const std::string line = to_string(invalid(Errc::invalid_option, "", limit, bound, unit));
    return line.substr(line.find('[') + 1, line.find(']') - line.find('[') - 1);
  };
  CHECK(words(1000, Bound::at_most, Unit::none) == "at_most=1000");
  CHECK(words(1, Bound::at_least, Unit::bytes) == "at_least=1 bytes");
  const std::pair<std::int64_t, std::string> durations[] = {{2'592'000'000'000'000, "30d"},
                                                            {3'600'000'000'000, "1h"},
                                                            {5'400'000'000'000, "90min"},
                                                            {5'000'000'000, "5s"},
                                                            {1'000'000, "1ms"},
                                                            {100'000, "100us"},
                                                            {1'000'001, "1000001ns"},
                                                            {0, "0ns"},
                                                            {-2'000'000, "-2ms"}};
  for (const auto& [nanoseconds, text] : durations) {
    CHECK(words(nanoseconds, Bound::at_least, Unit::nanoseconds) == "at_least=" + text);
  }
  CHECK(words(std::numeric_limits<std::int64_t>::max(), Bound::at_most, Unit::nanoseconds) ==
        "at_most=9223372036854775807ns");
}

TEST_CASE("errors are equal if and only if code and facts are") {
  CHECK(Error(Errc::busy) == Error(Errc::busy));
  CHECK(Error(Errc::busy) != Error(Errc::io_error));
  CHECK(invalid(Errc::too_large, "payload", 5) == invalid(Errc::too_large, "payload", 5));
  CHECK(invalid(Errc::too_large, "payload", 5) != invalid(Errc::too_large, "payload", 6));
  CHECK(invalid(Errc::too_large, "payload") != invalid(Errc::too_large, "detail"));
}

TEST_CASE("a failed result carries its error") {
  const Result<int> result = fail(Errc::stale_token);
  REQUIRE_FALSE(result);
  CHECK(result.error().code() == Errc::stale_token);
  const Status status = fail(invalid(Errc::invalid_option, "ttl"));
  CHECK(status.error().facts().field == "ttl");
}

TEST_CASE("the documented words of every error code are the library's own") {
  std::ifstream file(WALLOCK_TEST_DATA_DIR "/../../docs/errors.md");
  std::set<std::string> rows;
  for (std::string line; std::getline(file, line);)
    rows.insert(line);
  for (const auto& [name, number] : enumerators()) {
    const Error error(static_cast<Errc>(number));
    std::ostringstream row;
    row << "| `" << name << "` | " << number << " | " << error.error_class() << " | "
        << error.summary() << " | " << error.advice() << " |";
    CAPTURE(row.str());
    CHECK(rows.count(row.str()) == 1);
  }
}

TEST_CASE("an advice that names an option names one that there is") {
  std::stringstream headers;
  for (const char* header : {"options.hpp", "json/limits.hpp"}) {
    std::ifstream file(std::string(WALLOCK_TEST_DATA_DIR "/../../include/wallock/") + header);
    headers << file.rdbuf();
  }
  const std::string declared = headers.str();
  const std::regex option(R"((Options|JsonLimits)::(\w+))");
  std::size_t named = 0;
  for (const auto& [name, number] : enumerators()) {
    CAPTURE(name);
    const std::string advice(describe(static_cast<Errc>(number)).advice);
    for (std::sregex_iterator i(advice.begin(), advice.end(), option), end; i != end;
         ++i, ++named) {
      CHECK(declared.find("struct " + (*i)[1].str() + " {") != std::string::npos);
      CHECK(declared.find(" " + (*i)[2].str() + " = ") != std::string::npos);
    }
  }
  CHECK(named >= 4);
  CHECK(describe(Errc::too_large).advice.find("max_payload (Options, JsonLimits)") !=
        std::string_view::npos);
}
