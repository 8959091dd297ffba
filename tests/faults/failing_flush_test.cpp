// Two openings that share flushes, and files that fail from some call on: neither answers with what
// a power cut could take, not even a read, and both go on when the files work again.
#include <cstdint>
#include <string>

#include "catch.hpp"
#include "fault_vfs.hpp"
#include "sqlite/invariants.hpp"
#include "steps.hpp"
#include "temp_store.hpp"

namespace wallock::test {
namespace {

// How often the second one was answered, and how often it was not.
struct Reads {
  int answered = 0;
  int refused = 0;
};

// The first one commits and the second one reads while calls fail; false if none did.
bool fail_from(Stage& stage, const Fault& fault, Reads& reads) {
  FaultVfs& vfs = FaultVfs::instance();
  const std::string id = "a-" + to_string(fault);
  const ActionFields action{.id = id, .payload = "p"};
  vfs.arm(fault);
  const auto committed = stage.store->execute("r", action);
  const auto seen = stage.other->root();
  const bool injected = vfs.injected() > 0;
  vfs.disarm();
  CAPTURE(to_string(fault));
  if (!committed) CHECK(committed.error().error_class() == ErrorClass::transient);
  if (!seen) CHECK(seen.error().error_class() == ErrorClass::transient);
  ++(seen ? reads.answered : reads.refused);
  if (!committed || !seen) CHECK(injected);
  // It is recorded now if it was not, and once.
  CHECK(stage.store->execute("r", action));
  CHECK(stage.other->execute("s", ActionFields{.id = id + "-other", .payload = "p"}));
  const auto head = stage.other->root();
  REQUIRE(head);
  if (seen) CHECK(seen->size <= head->size);
  return injected;
}

}  // namespace

TEST_CASE("a read whose flush fails is not answered, and is when the log was written again",
          "[io]") {
  // Without it they learn nothing of each other's flushes.
  const bool has_sidecar = GENERATE(true, false);
  CAPTURE(has_sidecar);
  static_cast<void>(FaultVfs::instance());  // before anything is opened
  const ScratchFolder folder;
  Stage stage(folder.path(), Durability::commits);
  set_up({"two openings", {}}, stage);
  if (!has_sidecar) write_file(stage.path() + "-wallock", "of a later version");
  REQUIRE(opened().run(stage));
  REQUIRE(opened_twice().run(stage));
  REQUIRE(stage.store->health().value().shares_flushes == has_sidecar);
  Reads reads;
  for (const bool for_ever : {false, true}) {
    for (std::uint64_t at = 0; fail_from(stage, {.at = at, .for_ever = for_ever}, reads); ++at)
      continue;
  }
  // The second blow falls while the log is written again for the first one.
  for (std::uint64_t gap = 1; gap < 24; ++gap) {
    for (std::uint64_t at = 0; fail_from(stage, {.at = at, .then = at + gap}, reads); ++at)
      continue;
  }
  CHECK(reads.answered > 0);
  CHECK(reads.refused > 0);
  REQUIRE(closed().run(stage));
  const auto found = sqlite::check_invariants(stage.path());
  REQUIRE(found);
  CHECK(found->empty());
  CHECK(RawDatabase(stage.path()).text("PRAGMA integrity_check") == "ok");
}

}  // namespace wallock::test
