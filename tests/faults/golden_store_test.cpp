// Stores of other versions: a file that schema 1 made, kept as it was, and one of a later version
// that lets this one write.
#include <chrono>
#include <filesystem>

#include "catch.hpp"
#include "eventful_store.hpp"
#include "sqlite/invariants.hpp"
#include "temp_store.hpp"

namespace wallock::test {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view golden = WALLOCK_TEST_DATA_DIR "/store_v1.db";
constexpr std::string_view golden_root =
    "91299895654b78b2634b71df002231b24c3bb144e0a058cb8085c31e4742ded9";

// A copy of the file, and a clock that goes on where its own stood.
class OldStore : public TempStore {
 public:
  explicit OldStore(std::string_view boot_id) {
    std::filesystem::copy_file(golden, path());
    clock->reboot(std::string(boot_id), Instant(10min));
  }
  void check_sound() const {
    const auto found = sqlite::check_invariants(path());
    REQUIRE(found);
    CHECK(found->empty());
    CHECK(raw().text("PRAGMA integrity_check") == "ok");
  }
};

// Whatever can be done goes on where the file left it.
void work_on(Coordinator& store) {
  auto lease = store.acquire("account", {.ttl = 1min});
  REQUIRE(lease);
  CHECK(store.commit(*lease, ActionFields{.id = "new", .payload = "p"}));
  CHECK(store.release(*lease));
  const auto deliveries = store.claim({.destination = "bank", .limit = 10});
  REQUIRE(deliveries);
  REQUIRE_FALSE(deliveries->empty());
  for (const Delivery& delivery : *deliveries)
    CHECK(store.settle(delivery, DeliveryOutcome::delivered()));
  const auto replayed = store.execute("account", ActionFields{.id = "a4", .payload = "p"});
  REQUIRE_FALSE(replayed);
  CHECK(replayed.error().code() == Errc::action_conflict);  // known, and not this one
}

}  // namespace

TEST_CASE("a store that schema 1 made is read, proved and worked with", "[golden]") {
  const OldStore at("boot-2");
  {
    auto store = at.open();
    const auto head = store.root().value();
    CHECK(to_string(head.root) == golden_root);
    CHECK(store.verify(head).value().verdict == VerifyVerdict::anchored);
    CHECK(store.health().value().epoch == 2);
    CHECK(store.health().value().schema_version == 1);
    CHECK(store.breaker("bank").value().state() == BreakerState::open);
    work_on(store);
    CHECK(store.verify(head).value().verdict == VerifyVerdict::anchored);
  }
  at.check_sound();
}

TEST_CASE("a store that schema 1 made goes on in a new epoch after a restart", "[golden]") {
  const OldStore at("boot-3");
  {
    auto store = at.open();
    CHECK(store.health().value().epoch == 3);
    work_on(store);
  }
  at.check_sound();
}

TEST_CASE("a later store that lets this version write keeps what this one does not know",
          "[golden]") {
  const OldStore at("boot-2");
  at.raw().must(
      "ALTER TABLE wallock_resources ADD COLUMN later INTEGER NOT NULL DEFAULT 7;"
      "ALTER TABLE wallock_meta ADD COLUMN later TEXT;"
      "CREATE TABLE wallock_later (x INTEGER) STRICT; INSERT INTO wallock_later VALUES (9);"
      "INSERT INTO wallock_migrations (name, applied_at) VALUES ('0002_later', 0);"
      "UPDATE wallock_meta SET schema_version = 2, later = 'kept'");
  {
    auto store = at.open();
    work_on(store);
  }
  auto raw = at.raw();
  CHECK(raw.integer("SELECT count(*) FROM wallock_resources WHERE later <> 7") == 0);
  CHECK(raw.text("SELECT later FROM wallock_meta") == "kept");
  CHECK(raw.integer("SELECT schema_version FROM wallock_meta") == 2);
  CHECK(raw.integer("SELECT x FROM wallock_later") == 9);
  CHECK(raw.integer("SELECT count(*) FROM wallock_migrations") == 2);
  at.check_sound();
}

// How the file was made: once, by schema 1 itself. Another one later would prove nothing.
TEST_CASE("the store of schema 1 is made", "[.make-golden]") {
  const EventfulStore made;
  const char* const to = std::getenv("WALLOCK_GOLDEN_OUT");
  if (to == nullptr) return;
  RawDatabase(made.path()).must("PRAGMA journal_mode=DELETE; PRAGMA page_size=512; VACUUM");
  std::filesystem::copy_file(made.path(), to);
}

}  // namespace wallock::test
