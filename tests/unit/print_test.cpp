// Streaming: whatever has a to_string can be written to a stream.
#include "wallock/print.hpp"

#include <sstream>

#include "catch.hpp"
#include "unit/values_support.hpp"
#include "wallock/wallock.hpp"

using namespace wallock;

namespace {

template <class T>
std::string streamed(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

}  // namespace

TEST_CASE("whatever has a text is streamed as that text") {
  CHECK(streamed(test::resource("account/17")) == "account/17");
  CHECK(streamed(test::token(9)) == "0.9");
  CHECK(streamed(Score::parse("0.75").value()) == "0.750000");
  CHECK(streamed(Decimal::parse("-12.50").value()) == "-12.5");
  CHECK(streamed(Errc::stale_token) == "stale_token");
  CHECK(streamed(ActionState::sealed) == "SEALED");
  CHECK(streamed(RecordKind::genesis) == "genesis");
  CHECK(streamed(InstanceId{7}) == "7");
  CHECK(streamed(Digest()) == std::string(64, '0'));
  CHECK(streamed(Error(Errc::busy)) == to_string(Error(Errc::busy)));
}

TEST_CASE("streaming a value leaves the stream usable") {
  std::ostringstream out;
  out << test::resource("a") << " " << 7 << " " << test::token(1);
  CHECK(out.str() == "a 7 0.1");
}
