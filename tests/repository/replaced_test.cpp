// A store whose files are moved or deleted under use acknowledges nothing any more.
#include "repository_support.hpp"

namespace wallock::test {

TEST_CASE("a store that was moved, deleted or replaced is noticed, and stays given up") {
  TempStore at;
  auto store = at.open();
  const auto lease = store.acquire("r", by("ann", 1h)).value();
  REQUIRE(answer(store.execute("s", sent("a"))) == "ok");
  const auto delivery = store.claim({.destination = "bank"}).value().at(0);
  at.clock->advance(10ms);
  REQUIRE(answer(store.execute("s", recorded("b"))) == "ok");
  at.clock->advance(10ms);
  namespace fs = std::filesystem;
  SECTION("deleted") { fs::remove(at.path()); }
  SECTION("moved away") { fs::rename(at.path(), at.folder.file("moved.db")); }
  SECTION("its log deleted") { fs::remove(at.path() + "-wal"); }
  SECTION("its log replaced") {
    fs::copy_file(at.path() + "-wal", at.folder.file("log"));
    fs::rename(at.folder.file("log"), at.path() + "-wal");
  }
  SECTION("another store in its place") {
    TempStore other;
    {
      auto made = other.open();
    }
    fs::copy_file(other.path(), at.folder.file("other.db"));
    fs::rename(at.folder.file("other.db"), at.path());
  }
  for (int i = 0; i < 3; ++i) {
    CHECK(answer(store.acquire("t")) == "store_replaced");
    CHECK(answer(store.renew(lease, 1h)) == "store_replaced");
    CHECK(answer(store.commit(lease, recorded("c"))) == "store_replaced");
    CHECK(answer(store.execute("t", recorded("c"))) == "store_replaced");
    CHECK(answer(store.release(lease)) == "store_replaced");
    CHECK(answer(store.settle(delivery, DeliveryOutcome::delivered())) == "store_replaced");
    CHECK(answer(store.force_open("r", "x")) == "store_replaced");
    at.clock->advance(1s);
  }
}

TEST_CASE("files are looked at by name at most every ten milliseconds") {
  TempStore at;
  auto store = at.open();
  REQUIRE(answer(store.execute("s", recorded("a"))) == "ok");
  std::filesystem::rename(at.path(), at.folder.file("moved.db"));
  CHECK(answer(store.execute("s", recorded("b"))) == "ok");  // same instant: not looked at again
  at.clock->advance(10ms - 1ns);
  CHECK(answer(store.execute("s", recorded("c"))) == "ok");
  at.clock->advance(1ns);
  CHECK(answer(store.execute("s", recorded("d"))) == "store_replaced");
}

}  // namespace wallock::test
