// A commit with keep whose first answer was lost: the repetition gives the lease that it kept.
#include "memory_repository.hpp"
#include "repository_support.hpp"

namespace wallock::test {
namespace {

// A store that can be opened several times: on disk, or in memory.
struct SomeStore {
  TempStore disk;
  std::shared_ptr<MemoryStore> memory;

  [[nodiscard]] Coordinator open() const {
    if (!memory) return disk.open();
    return Coordinator::over(std::make_unique<MemoryRepository>(memory, disk.clock), disk.options())
        .value();
  }
};

}  // namespace

TEST_CASE("a repeated commit with keep answers the lease it kept, while that is the current one") {
  SomeStore at;
  if (GENERATE(true, false)) at.memory = std::make_shared<MemoryStore>();
  CAPTURE(at.memory != nullptr);
  auto store = at.open();
  const auto lease = store.acquire("r", by("ann")).value();
  const CommitOptions keep{.after = AfterCommit::keep};
  const auto first = store.commit(lease, recorded("a"), {}, keep).value();
  REQUIRE(first.lease().has_value());

  const auto again = store.commit(lease, recorded("a"), {}, keep).value();
  CHECK(again.replayed());
  CHECK(again.results() == first.results());
  REQUIRE(again.lease().has_value());
  CHECK(again.lease()->token() == first.lease()->token());
  CHECK(again.lease() == first.lease());

  SECTION("not when it was not asked for") {
    CHECK_FALSE(store.commit(lease, recorded("a"), {}).value().lease().has_value());
  }
  SECTION("not to another opening of the store") {
    auto other = at.open();
    const auto foreign = Lease::create({.resource = lease.resource(),
                                        .token = lease.token(),
                                        .holder = lease.holder(),
                                        .instance = InstanceId{1},
                                        .requested_at = lease.requested_at(),
                                        .granted_at = lease.granted_at(),
                                        .expires_at = lease.expires_at()})
                             .value();
    CHECK_FALSE(other.commit(foreign, recorded("a"), {}, keep).value().lease().has_value());
  }
  SECTION("not once its token is spent") {
    REQUIRE(answer(store.commit(*again.lease(), recorded("b"))) == "ok");
    CHECK_FALSE(store.commit(lease, recorded("a"), {}, keep).value().lease().has_value());
  }
  SECTION("not once somebody else has the resource, and not what came after") {
    REQUIRE(answer(store.release(*again.lease())) == "ok");
    CHECK_FALSE(store.commit(lease, recorded("a"), {}, keep).value().lease().has_value());
    REQUIRE(answer(store.acquire("r", by("ann"))) == "ok");
    CHECK_FALSE(store.commit(lease, recorded("a"), {}, keep).value().lease().has_value());
  }
}

}  // namespace wallock::test
