// World: a run of the simulation: one machine, one store, a few workers, one seed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "expectation.hpp"
#include "machine.hpp"
#include "observer.hpp"
#include "sidecar_memory.hpp"
#include "sqlite/open_repository.hpp"
#include "trace.hpp"
#include "wallock/manual_clock.hpp"

namespace wallock::test {

// What happened how often, over many runs.
using Sometimes = std::map<std::string, std::uint64_t, std::less<>>;

// What is wrong with a run: the story up to there is the seed's.
class Wrong : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// How a run differs from one of the library as it is: bugs that the simulation must find.
struct Planted {
  bool drops_flushes = false;   // the disk says that it flushed, and did not
  bool trusts_unknown = false;  // an outcome that is unknown is told as done
  bool denies_unknown = false;  // the same, as not done
  bool forgets_failed = false;  // what a flush failed to write is not written by the next one
  bool buries_quietly = false;  // the dead leave no sign of their death
};

// A process with the store open.
struct Worker {
  int process = 0;  // of this opening: never used again
  sqlite::OpenedRepository store = {};

  [[nodiscard]] bool is_open() const { return store.repository != nullptr; }
};

// The lease or probe that somebody holds in its hands, and the model's words for it.
struct KeptLease {
  Lease lease;
  ModelLease model;
};
struct KeptProbe {
  int resource;
  Probe probe;
};

// What a call came to, in the model's words.
struct Said {
  std::string words;
  std::optional<Errc> error = {};
};

// Whether openings flush the log for each other.
enum class Flushes : std::uint8_t { shared, own, either };

class World {
 public:
  // `folder` is a real one, for the sidecar; nothing else lies there. Outlived by the trace.
  World(std::uint64_t seed, const std::string& folder, const Planted& planted, Trace& trace,
        Sometimes& sometimes);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Throws Wrong.
  void run(std::uint64_t steps);

 private:
  // What a call's answer promises.
  enum class Promise : std::uint8_t {
    rides,    // nothing yet
    durable,  // it is flushed, at the levels that flush commits
    reads,    // what it says rests on nothing that may be lost
  };
  // A call that is under way.
  struct Call {
    std::string name;
    Promise promise = Promise::rides;
    std::function<Said(LeaseRepository&)> ask;
    std::function<std::string(StoreModel&)> model;
  };

  // The course of a run (world.cpp).
  void step();
  // `asks`: about how many there will be; `often`: in so many of twenty cases.
  void draw_trouble(std::uint64_t asks, std::uint64_t often = 4);
  void pass_time();
  void open(Worker& worker);
  void close(Worker& worker);
  void kill(Worker& worker);
  void bury(Worker& worker);
  void cut_power();
  void look(bool thoroughly = false);
  void finish();
  [[nodiscard]] bool does(Worker& worker, const Call& call);
  [[nodiscard]] bool came_through(Worker& worker, const Call& call, const Said& said,
                                  StoreState next, bool struck);
  void judge(const Call& call, const Said& said, const std::string& expected, StoreState next);
  [[nodiscard]] Said told(const Said& said, const std::string& expected) const;
  void note_granted(FencingToken token);
  [[noreturn]] void fail_with(const std::string& words) const;
  void saw_answer(std::string_view words);
  void saw(std::string_view what) { ++sometimes_[std::string(what)]; }
  [[nodiscard]] bool is_flushed(Promise promise) const;

  // The kinds of calls (calls.cpp).
  void any_call(Worker& worker);
  void acquire(Worker& worker);
  void acquire_all(Worker& worker);
  void renew(Worker& worker);
  void renew_all(Worker& worker);
  void commit(Worker& worker);
  void repeat(Worker& worker);
  void commit_batch(Worker& worker, const KeptLease& kept, const StoreModel::Batch& batch,
                    StoreModel::After after);
  void execute(Worker& worker);
  void release(Worker& worker);
  void revoke(Worker& worker);
  // More of them (more_calls.cpp).
  void report(Worker& worker);
  void report_once(Worker& worker, const KeptLease& kept, StoreModel::Outcome outcome);
  void recover(Worker& worker);
  void begin_recovery(Worker& worker, int r);
  void complete_recovery(Worker& worker, const KeptProbe& kept, bool recovered);
  void force(Worker& worker);
  void claim(Worker& worker);
  void settle(Worker& worker);
  void read(Worker& worker);
  // After the faults (aftermath.cpp).
  void work_again(Worker& worker, int r);
  void deliver_all(Worker& worker);

  // Blows come together: shortly after one, the next is near.
  [[nodiscard]] bool is_tense() const { return last_blow_ && steps_ - *last_blow_ < 4; }
  [[nodiscard]] std::uint64_t below(std::uint64_t count) { return random_.below(count); }
  [[nodiscard]] Instant deadline() const { return clock_->now() + std::chrono::milliseconds(50); }
  [[nodiscard]] Nanos now() const { return clock_->now().time_since_epoch().count(); }
  [[nodiscard]] int any_resource() { return static_cast<int>(below(resources)); }
  [[nodiscard]] Duration any_ttl();
  [[nodiscard]] const KeptLease* any_lease();
  [[nodiscard]] StoreModel::Batch any_batch();
  [[nodiscard]] Work work_of(const StoreModel::Batch& batch, bool& fails);
  void keep(const Lease& lease, int resource, int holder, int instance);

  static constexpr std::uint64_t resources = 4;

  const bool has_sidecar_;  // or nobody learns of anybody else, and each flushes for itself
  const std::string path_;
  const Planted planted_;
  Trace& trace_;
  Sometimes& sometimes_;
  Random random_;
  std::shared_ptr<ManualClock> clock_;
  SidecarMemory& sidecar_;
  Options options_;
  Flushes flushes_ = Flushes::shared;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<Expectation> expected_;
  std::unique_ptr<Observer> observer_;
  std::vector<Worker> workers_;
  int processes_ = 0;
  std::uint64_t boot_ = 1;
  std::uint64_t steps_ = 0;
  std::optional<std::uint64_t> last_blow_;
  bool is_calm_ = false;  // nothing goes wrong any more
  FencingToken highest_;  // that was answered to anybody
  std::optional<Nanos> work_began_;
  TreeHead head_;

  std::uint64_t next_id_ = 0;
  std::vector<KeptLease> leases_;
  std::vector<KeptProbe> probes_;
  std::vector<Delivery> deliveries_;
  std::vector<std::string> requests_;
  std::vector<StoreModel::Batch> batches_;
  std::optional<KeptLease> unanswered_lease_;  // of a commit that was not answered
};

// A run as it went.
struct Ran {
  std::string failure;  // empty if all is well
  std::uint64_t trace = 0;
};

// Plays one seed. The same seed and plan give the same run, in any process.
[[nodiscard]] Ran play(std::uint64_t seed, const Planted& planted, Sometimes& sometimes,
                       std::ostream* story = nullptr, bool bytes = false);

}  // namespace wallock::test
