// The WAL-reset race: a checkpoint that meets a commit. SQLite 3.7.0 to 3.51.2 publishes how much
// of the log it copied for a log that began anew meanwhile, and later forgets commits by it. Forced
// here: while one opening commits and checkpoints, another one commits at any moment of it, and
// between the two steps of the checkpoint at which it does harm.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "catch.hpp"
#include "fault_vfs.hpp"
#include "scenario.hpp"
#include "sqlite/invariants.hpp"
#include "temp_store.hpp"
#include "wallock/sqlite.hpp"

namespace wallock::test {
namespace {

// Who commits and checkpoints while the other opening interferes.
enum class Checkpoints : std::uint8_t {
  guarded,   // an opening of the library
  automatic  // a plain connection, as SQLite sets it up
};

class Race {
 public:
  explicit Race(Checkpoints checkpoints) : stage_(folder_.path(), Durability::relaxed) {
    static_cast<void>(FaultVfs::instance());  // before anything is opened
    write_file(stage_.path(), empty_store(512));
    stage_.options.share_flushes = false;
    stage_.store.emplace(Coordinator::open(stage_.path(), stage_.options).value());
    if (checkpoints == Checkpoints::guarded) {
      stage_.other.emplace(Coordinator::open(stage_.path(), stage_.options).value());
    } else {
      plain_ = std::make_unique<RawDatabase>(stage_.path());
      plain_->must("PRAGMA wal_autocheckpoint=1000");
    }
    fill_log();
  }

  // The other opening commits at that moment of this one's commit and checkpoint, and whenever a
  // checkpoint that found news is about to begin its work. False if there is no such moment.
  bool run(std::uint64_t at) {
    std::uint64_t moment = 0;
    bool reached = false;
    FaultVfs& vfs = FaultVfs::instance();
    vfs.watch([&](FileCall call, std::string_view, int) {
      const bool is_lock = call == FileCall::index_lock || call == FileCall::lock;
      const bool here = is_lock && moment++ == at;
      reached = reached || here;
      if (here || (reached && call == FileCall::unfetch)) commit(*stage_.store);
    });
    commit_and_checkpoint();
    vfs.stop_watching();
    // The log that began anew grows, and whoever closes last copies what it still knows of.
    for (int i = 0; i < 20; ++i) {
      commit(*stage_.store);
      commit_and_checkpoint();
    }
    return reached;
  }

  // Commits that were answered and are not there after everybody closed; of a store that is not in
  // order, at least one.
  [[nodiscard]] std::size_t lost() {
    stage_.store.reset();
    stage_.other.reset();
    plain_.reset();
    RawDatabase raw(stage_.path());
    if (raw.run("PRAGMA integrity_check") != "ok") return answered_.size();
    std::size_t lost = 0;
    for (const std::string& id : answered_)
      lost += raw.integer("SELECT count(*) FROM app NOT INDEXED WHERE action = '" + id + "'") != 1;
    const auto found = sqlite::check_invariants(stage_.path());
    const bool is_whole = raw.text("PRAGMA integrity_check") == "ok" && found && found->empty();
    return lost == 0 && !is_whole ? 1 : lost;
  }

  [[nodiscard]] std::uint64_t checkpoints() {
    return stage_.other ? stage_.other->health().value().checkpoints : 0;
  }

 private:
  // More frames than any checkpoint waits for.
  void fill_log() {
    RawDatabase(stage_.path())
        .must(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200) "
            "INSERT INTO app SELECT printf('%0400d', i), 0 FROM n");
  }

  void commit(Coordinator& store) {
    const std::string id = "a" + std::to_string(next_++);
    const auto action = ActionRequest::create({.id = id, .payload = "p"}).value();
    const auto done = store.execute("r", action, [&](Transaction& transaction) {
      database(transaction).exec("INSERT INTO app VALUES ('" + id + "', 0)");
    });
    if (done) answered_.push_back(id);
  }

  void commit_and_checkpoint() {
    if (stage_.other) return commit(*stage_.other);
    const std::string id = "p" + std::to_string(next_++);
    if (plain_->run("INSERT INTO app VALUES ('" + id + "', 0)") == "ok") answered_.push_back(id);
  }

  const ScratchFolder folder_;
  Stage stage_;
  std::unique_ptr<RawDatabase> plain_;
  std::uint64_t next_ = 0;
  std::vector<std::string> answered_;
};

struct Outcome {
  std::uint64_t moments = 0;
  std::uint64_t checkpoints = 0;
  std::size_t lost = 0;
};

Outcome race(Checkpoints checkpoints) {
  Outcome outcome;
  for (std::uint64_t at = 0;; ++at) {
    Race here(checkpoints);
    const bool reached = here.run(at);
    outcome.checkpoints += here.checkpoints();
    const std::size_t lost = here.lost();
    if (lost > 0) std::printf("moment %llu: %zu lost\n", static_cast<unsigned long long>(at), lost);
    outcome.lost += lost;
    if (!reached) return outcome;
    ++outcome.moments;
  }
}

bool has_the_bug() {
  const TempStore at;
  return at.open().health().value().sqlite_has_wal_reset_bug;
}

}  // namespace

TEST_CASE("a commit at any moment of another opening's checkpoint is not lost", "[reset]") {
  const auto outcome = race(Checkpoints::guarded);
  CHECK(outcome.moments > 5);
  CHECK(outcome.checkpoints > outcome.moments / 2);
  CHECK(outcome.lost == 0);
}

TEST_CASE("commits are lost to a plain connection's automatic checkpoint", "[reset]") {
  const auto outcome = race(Checkpoints::automatic);
  CHECK(outcome.moments > 3);
  CHECK((outcome.lost > 0) == has_the_bug());
}

}  // namespace wallock::test
