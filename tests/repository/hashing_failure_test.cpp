// A store in a process whose OpenSSL fails for a while: nothing is recorded with a wrong hash,
// nothing intact is called damaged, and all goes on once OpenSSL does.
#include "failing_openssl.hpp"
#include "repository_support.hpp"

namespace wallock::test {
namespace {

using openssl::BrokenProvider;
using openssl::DryGenerator;
using openssl::refused;
using openssl::Step;

}  // namespace

TEST_CASE("a store whose hashes fail records nothing, and works again when they do") {
  const BrokenProvider provider;
  TempStore at;
  auto store = at.open();
  const auto lease = store.acquire("r", by("ann")).value();
  REQUIRE(answer(store.commit(lease, sent("a"), {}, {.after = AfterCommit::nothing})) == "ok");
  const auto head = store.root().value();
  News news(store);

  refused = Step::update;
  CHECK(answer(store.execute("s", sent("b"))) == "out_of_memory");
  CHECK(answer(store.acquire("s", by("ann"))) == "out_of_memory");
  CHECK(answer(store.commit(lease, sent("a"))) == "out_of_memory");  // is it the same?
  CHECK(answer(store.root()) == "out_of_memory");
  CHECK(answer(store.verify()) == "out_of_memory");
  CHECK(answer(store.verify(head)) == "out_of_memory");
  refused = Step::start;
  CHECK(answer(Coordinator::open(at.path(), at.options())) == "out_of_memory");
  CHECK(answer(store.acquire("s", by("ann"))) == "out_of_memory");
  CHECK(answer(store.verify()) == "out_of_memory");

  refused = Step::none;
  CHECK(news() == "-");
  CHECK(store.root().value() == head);
  CHECK(store.verify(head).value().verdict == VerifyVerdict::anchored);
  CHECK(answer(store.execute("s", sent("b"))) == "ok");
  CHECK(store.commit(lease, sent("a")).value().replayed());
  CHECK(answer(store.acquire("t", by("ann"))) == "ok");
  CHECK(verdict(store) == "UNANCHORED");
}

TEST_CASE("a store without random bytes records no action under a salt that can be guessed") {
  TempStore at;
  auto store = at.open();
  REQUIRE(answer(store.execute("r", recorded("first"))) == "ok");
  int done = 0;
  {
    const DryGenerator dry;
    // What was drawn before is used up first.
    while (done < 100 && store.execute("r", recorded(std::to_string(done))))
      ++done;
    CHECK(done < 100);
    CHECK(answer(store.execute("r", recorded("without"))) == "out_of_memory");
    TempStore other;
    CHECK(answer(Coordinator::open(other.path(), other.options())) == "out_of_memory");
  }
  CHECK(answer(store.execute("r", recorded("without"))) == "ok");
  auto raw = at.raw();
  CHECK(raw.integer("SELECT count(DISTINCT salt) FROM wallock_payloads") == done + 2);
  CHECK(raw.integer("SELECT count(*) FROM wallock_payloads") == done + 2);
}

}  // namespace wallock::test
