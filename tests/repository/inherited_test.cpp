// A store that a forked child inherited refuses at its own door, whatever stands before it.
#include "fork.hpp"
#include "repository_support.hpp"
#include "sqlite/open_repository.hpp"

namespace wallock::test {

TEST_CASE("an inherited store answers forked_handle to every call, and its parent works on") {
  const TempStore at;
  const auto opened =
      sqlite::open_repository(at.path(), at.options(), InstanceId{1}, at.clock).value();
  LeaseRepository& store = *opened.repository;
  const auto resource = ResourceName::parse("r").value();
  const Instant deadline = at.clock->now() + 1s;
  Fork child([&] {
    int wrong = 0;
    const auto look = [&wrong](const auto& answer) {
      if (answer || answer.error().code() != Errc::forked_handle) ++wrong;
    };
    look(store.force_open(resource, "x", deadline));
    look(store.breaker(resource));
    look(store.leases(10));
    look(store.audit({}));
    look(store.root());
    look(store.verify(std::nullopt));
    look(store.health());
    look(store.change_counter());
    return wrong;
  });
  CHECK(child.wait() == 0);
  CHECK(answer(store.force_open(resource, "x", deadline)) == "ok");
  CHECK(store.root().value().size == 2);
}

TEST_CASE("a path that is none is refused at the store's own door too") {
  const TempStore at;
  for (const std::string& path : {std::string(), at.path() + '\0'}) {
    const auto refused = sqlite::open_repository(path, at.options(), InstanceId{1}, at.clock);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Errc::invalid_option);
  }
  CHECK_FALSE(std::filesystem::exists(at.path()));
}

}  // namespace wallock::test
