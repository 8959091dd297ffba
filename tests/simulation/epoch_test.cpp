// An epoch that was raised by somebody who did not come to the end of it.
#include <optional>

#include "catch.hpp"
#include "machine.hpp"
#include "machine_vfs.hpp"
#include "names_only.hpp"
#include "sqlite/open_repository.hpp"
#include "wallock/manual_clock.hpp"

namespace wallock::test {
namespace {

// Opens the store as a process of its own; what it grants is not flushed.
Result<FencingToken> grant(Machine& machine, const std::string& path, int process,
                           const std::shared_ptr<ManualClock>& clock) {
  machine.set_process(process);
  Options options;
  options.clock = clock;
  options.share_flushes = false;
  const InstanceId instance{static_cast<std::uint64_t>(process)};
  auto opened = sqlite::open_repository(path, options, instance, clock);
  if (!opened) return fail(opened.error());
  const auto lease = opened->repository->acquire({.resource = ResourceName::parse("r").value(),
                                                  .holder = HolderId::parse("h").value(),
                                                  .instance = instance,
                                                  .ttl = std::chrono::seconds(1)},
                                                 "", clock->now() + std::chrono::seconds(1));
  // The power goes while it is open.
  machine.cut_power();
  if (!lease) return fail(lease.error());
  return lease->token();
}

// The first token of the boot after the one whose raised epoch was not flushed by who raised it,
// less the last one of that boot; empty if it had no such flush.
std::optional<std::int64_t> progress(std::uint64_t seed, const Trouble& trouble) {
  use_machine_vfs();
  static const NamesOnly folder;
  const std::string path = folder.path() + "/store.db";
  const auto clock = std::make_shared<ManualClock>();
  Trace trace;
  Machine machine({}, trace, seed, false);
  REQUIRE(grant(machine, path, 1, clock));
  machine.restart();
  clock->reboot("boot 2");
  machine.arm(trouble);
  machine.set_process(2);
  Options options;
  options.share_flushes = false;
  const auto failed = sqlite::open_repository(path, options, InstanceId{2}, clock);
  if (!machine.disarm()) return std::nullopt;
  CHECK(!failed);
  machine.bury(2);
  const auto before = grant(machine, path, 3, clock);
  REQUIRE(before);
  machine.restart();
  clock->reboot("boot 3");
  const auto after = grant(machine, path, 4, clock);
  REQUIRE(after);
  machine.restart();
  return static_cast<std::int64_t>(after->value()) - static_cast<std::int64_t>(before->value());
}

}  // namespace

TEST_CASE("INV-01 an epoch that was raised and not flushed is flushed before it is used") {
  using Kind = Trouble::Kind;
  int met = 0;
  for (const Kind kind : {Kind::lost_flush, Kind::death}) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      // Of the log's header, if the log is new; or of the transaction.
      const Trouble trouble{.kind = kind, .at = seed % 2, .only = Ask::flush};
      CAPTURE(to_string(kind), seed);
      const auto made = progress(seed, trouble);
      if (!made) continue;
      ++met;
      CHECK(*made > 0);
    }
  }
  CHECK(met > 30);
}

}  // namespace wallock::test
