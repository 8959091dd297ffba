// Fuzzes database files: a small store that works, its rows, pages, log and sidecar damaged as the
// input says, is opened and worked with. It is refused, or works. What must not happen:
//
// - a crash, or a hang (the drivers have a limit for one input);
// - a wrong ALLOW: a commit is accepted, not as a replay, although the rows of the file, as it lay
//   there before it was opened, forbid it: its token is at or below the stored fence, or above the
//   latest token, or of another epoch, or the breaker's row is not CLOSED or not there; or a token
//   commits twice; or a grant's number is not above all that the resource's rows name;
// - a lie that goes unseen. Rows that change are covered by no hash, so that a file whose fence was
//   lowered behind the library's back is believed (docs/SECURITY.md). But the ledger tells the
//   fence too: where a commit was accepted that the untouched ledger forbids, either verify() with
//   the untouched ledger's head said that the ledger is not what it was, or check_invariants names
//   what is wrong afterwards;
// - a false OK: verify() with the head of the untouched ledger says OK, and a record of it differs.
#include <array>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/damage.hpp"
#include "fuzz/golden_store.hpp"
#include "fuzz/target.hpp"
#include "fuzz/told_store.hpp"
#include "sqlite/invariants.hpp"
#include "temp_store.hpp"
#include "wallock/coordinator.hpp"

namespace wallock::fuzz {
namespace {

using namespace std::chrono_literals;

const GoldenStore& golden() {
  static const GoldenStore store = [] {
    try {
      return load_golden_store();
    } catch (const std::exception& error) {
      std::cerr << "the golden store cannot be read: " << error.what() << '\n';
      std::exit(2);
    }
  }();
  return store;
}

// The first bits of an input: how the store is opened.
struct Way {
  explicit Way(std::uint8_t bits) : bits_(bits) {}
  [[nodiscard]] bool shares_flushes() const { return (bits_ & 3) == 3; }
  [[nodiscard]] bool reseals() const { return (bits_ & 4) == 0; }
  [[nodiscard]] bool reboots() const { return (bits_ & 0x18) == 0x18; }
  [[nodiscard]] bool adopts() const { return (bits_ & 0xe0) == 0xe0; }
  [[nodiscard]] bool raises_epoch() const { return reboots() || adopts(); }

 private:
  std::uint8_t bits_;
};

Options options_for(Way way) {
  Options options;
  options.durability = Durability::relaxed;
  options.share_flushes = way.shares_flushes();
  options.adopt_restored = way.adopts();
  options.operation_timeout = 100ms;
  const auto clock = golden_clock();
  if (way.reboots()) clock->reboot("another boot");
  options.clock = clock;
  return options;
}

// One damaged store, and what was done with it.
class Case {
 public:
  Case(Coordinator store, const ToldStore& told, Way way)
      : store_(std::move(store)), told_(told), raises_epoch_(way.raises_epoch()) {}

  // True if a commit was accepted that the untouched ledger forbids, and the ledger in the file is
  // still that one.
  [[nodiscard]] bool believed_a_lie() const noexcept { return believed_a_lie_; }

  // Shows all old leases, and works on two of the resources, chosen by `which`.
  void run(std::size_t which) {
    constexpr std::array names{"account", "bank", "mail", "once", "probed", "shut", "new"};
    look();
    for (const Lease& lease : golden().leases)
      show_old(lease);
    work_on(names[which % names.size()]);
    work_on(names[(which + 3) % names.size()]);
    deliver();
    steer();
  }

 private:
  void look() {
    const auto report = store_.verify(golden().head);
    ledger_is_whole_ = report && report->verdict == VerifyVerdict::anchored;
    if (ledger_is_whole_) {
      auto records = store_.audit({.limit = 10'000});
      require(records && records->size() >= golden().records.size(), "OK, but records are missing");
      records->erase(records->begin() + static_cast<std::ptrdiff_t>(golden().records.size()),
                     records->end());
      require(*records == golden().records, "verify says OK, but a record was changed");
    }
    static_cast<void>(store_.verify());
    static_cast<void>(store_.root());
    static_cast<void>(store_.leases());
    static_cast<void>(store_.health());
    static_cast<void>(store_.audit());
  }

  [[nodiscard]] std::string next_id() { return "fuzz-" + std::to_string(++actions_); }

  // Commits under the lease; true if it was allowed.
  bool commit(const Lease& lease, CommitOptions options = {}) {
    const auto answer =
        store_.commit(lease, ActionFields{.id = next_id(), .payload = "x"}, {}, options);
    return answer && !answer->replayed();
  }

  // A lease from before the damage.
  void show_old(const Lease& lease) {
    if (!commit(lease)) return;
    require(told_.allows(lease), "a commit was allowed that the file's own rows forbid");
    const std::string& name = lease.resource().str();
    const bool is_forbidden =
        raises_epoch_ || lease.token() <= golden().fences.at(name) || !golden().closed.at(name);
    believed_a_lie_ = believed_a_lie_ || (is_forbidden && ledger_is_whole_);
    require(!commit(lease), "a token committed twice");
  }

  void work_on(const std::string& name) {
    static_cast<void>(store_.breaker(name));
    const auto lease = store_.try_acquire(name, {.ttl = 1h, .metadata = "m"});
    if (!lease) return static_cast<void>(store_.execute(name, ActionFields{.id = next_id()}));
    require(told_.may_grant(name), "a resource was granted whose breaker is not closed");
    require(static_cast<std::int64_t>(lease->token().value()) > told_.highest(name),
            "a token is not above those before it");
    const auto renewed = store_.renew(*lease, 2h);
    static_cast<void>(store_.report(*lease, DownstreamOutcome::success));
    const bool allowed = commit(renewed ? *renewed : *lease);
    require(!(allowed && commit(*lease)), "a token committed twice");
    static_cast<void>(store_.release(*lease));
    require(!commit(*lease), "a token committed after its release");
  }

  void deliver() {
    for (int i = 0; i < 2; ++i) {
      const auto sent = store_.claim({.destination = "post", .limit = 3});
      if (!sent) return;
      for (const Delivery& delivery : *sent)
        static_cast<void>(store_.settle(
            delivery, i == 0 ? DeliveryOutcome::delivered() : DeliveryOutcome::retry(1s)));
    }
  }

  void steer() {
    if (const auto probe = store_.begin_recovery("bank")) {
      static_cast<void>(store_.complete_recovery(*probe, {.recovered = true, .evidence = "e"}));
    }
    static_cast<void>(store_.clear_forced("shut"));
    static_cast<void>(store_.force_open("account", "fuzz"));
    require(
        !store_.try_acquire("account") || store_.breaker("account")->state() != BreakerState::open,
        "an open breaker granted a lease");
    static_cast<void>(store_.verify());
  }

  Coordinator store_;
  const ToldStore& told_;
  bool raises_epoch_;
  int actions_ = 0;
  bool ledger_is_whole_ = false;
  bool believed_a_lie_ = false;
};

// The planted bug: rows that no program writes are put right in the caller's favour.
void plant([[maybe_unused]] const std::string& path) {
#ifdef WALLOCK_FUZZ_PLANTED
  test::RawDatabase raw(path);
  sqlite3_db_config(raw.handle(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(raw.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  raw.run(
      "UPDATE wallock_breakers SET state = 0, forced = 0, interval_ns = 0, failed_probes = 0 "
      "WHERE state NOT IN (0, 1, 2)");
  raw.run("UPDATE wallock_resources SET max_fence = 0 WHERE max_fence > issued");
#endif
}

void run(Input input, std::size_t which) {
  static const test::TempFolder folder;
  const std::string path = folder.file("store.db");
  const Way way(input.byte());
  StoreFiles files{.database = golden().database, .log = golden().log};
  damage(files, input, way.reseals(), folder.file("scratch.db"));
  files.write(folder.file("told.db"));
  const ToldStore told(folder.file("told.db"), way.raises_epoch());
  files.write(path);
  plant(path);

  bool believed_a_lie = false;
  {
    auto store = Coordinator::open(path, options_for(way));
    if (!store) return;
    Case damaged(*std::move(store), told, way);
    damaged.run(which);
    believed_a_lie = damaged.believed_a_lie();
  }
  const auto violations = sqlite::check_invariants(path);
  require(!believed_a_lie || !violations || !violations->empty(),
          "a commit against the ledger was accepted, and nothing tells");
}

}  // namespace
}  // namespace wallock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wallock::fuzz;
  try {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < size; ++i)
      sum += data[i];
    run(Input({data, size}), sum);
  } catch (const std::exception& error) {
    found(std::string("an exception: ") + error.what());
  }
  return 0;
}
