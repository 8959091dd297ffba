// Power cuts while the flush of one opening carries what another one wrote: what was answered
// lasts, and no answer rests on what does not. The second opening's call is made while the first
// one's is in its flush, from another thread, as another process would.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "catch.hpp"
#include "fault_vfs.hpp"
#include "fork.hpp"
#include "ledger/sha256.hpp"
#include "power_cut.hpp"
#include "steps.hpp"
#include "temp_store.hpp"
#include "wallock/ledger/merkle.hpp"

namespace wallock::test {
namespace {

using namespace std::chrono_literals;

// When the second call is made: before the first one's flush reaches the disk, or after.
enum class Moment : std::uint8_t { before_flush, after_flush };

struct Round {
  Step first;
  Step second;
  Moment when = Moment::after_flush;
  Status first_done = {};
  Status second_done = {};
};

// The ledger's head when it had so many records.
TreeHead head_of(RawDatabase& raw, std::uint64_t size) {
  auto hasher = ledger::Sha256::create().value();
  ledger::Frontier frontier;
  for (std::uint64_t position = 0; position < size; ++position) {
    const auto leaf = Digest::parse(
        raw.text("SELECT lower(hex(leaf_hash)) FROM wallock_lease_queue_events WHERE position = " +
                 std::to_string(position)));
    static_cast<void>(frontier.append(leaf.value(), hasher));
  }
  return {.size = frontier.size(), .root = frontier.root(hasher)};
}

class TwoOpenings {
 public:
  explicit TwoOpenings(Durability durability)
      : durability_(durability),
        first_(folder_.path(), durability),
        second_(folder_.path(), durability),
        log_(std::make_shared<DiskLog>(set_up(Scenario{"two", {}}, first_))) {
    second_.clock = first_.clock;
    second_.options.clock = first_.clock;
    vfs_.record(folder_.path(), *log_);
    must(opened().run(first_));
    must(opened().run(second_));
  }
  TwoOpenings(const TwoOpenings&) = delete;
  TwoOpenings& operator=(const TwoOpenings&) = delete;
  ~TwoOpenings() { vfs_.stop_recording(); }

  // Alone, by the first opening.
  void play(const Step& step) { note(step, first_, step.run(first_)); }

  void play(Round& round) {
    const auto self = std::this_thread::get_id();
    const FileCall call = round.when == Moment::before_flush ? FileCall::flush : FileCall::flushed;
    wrote_ = answered_ = finished_ = started_ = false;
    std::thread other;
    vfs_.watch([&](FileCall now, std::string_view path, int) {
      if (!path.ends_with("-wal")) return;
      if (std::this_thread::get_id() != self) return meet_second(now);
      if (now != call || started_.exchange(true)) return;
      other = std::thread([&] {
        round.second_done = round.second.run(second_);
        note(round.second, second_, round.second_done, std::exchange(seen, std::nullopt));
        finished_ = true;
      });
      await([&] { return wrote_ || finished_; });
    });
    note(round.first, first_, round.first_done = round.first.run(first_));
    answered_ = true;
    if (other.joinable()) other.join();
    vfs_.stop_watching();
  }
  [[nodiscard]] bool met() const { return started_; }

  [[nodiscard]] Recording take(const std::string& name) {
    first_.store.reset();
    second_.store.reset();
    vfs_.stop_recording();
    RawDatabase raw(first_.path());
    for (const auto& [answer, size] : sizes_)
      answers_[answer].durable_head = head_of(raw, size);
    return {.scenario = name, .durability = durability_, .log = log_, .answers = answers_};
  }

  // What a read of the second opening was answered.
  std::optional<TreeHead> seen;

 private:
  static void must(const Status& done) {
    if (!done) throw std::runtime_error(to_string(done.error()));
  }
  // Some milliseconds at most: a call that waits for the first one's flush must not be waited for.
  template <class Condition>
  static void await(Condition&& condition) {
    for (int i = 0; i < 30 && !condition(); ++i)
      std::this_thread::sleep_for(100us);
    std::this_thread::sleep_for(1ms);
  }
  // The second one's own flush waits until the first one was answered.
  void meet_second(FileCall now) {
    if (now == FileCall::written) wrote_ = true;
    while (now == FileCall::flush && !answered_)
      std::this_thread::sleep_for(100us);
  }
  void note(const Step& step, const Stage& stage, const Status& done,
            std::optional<TreeHead> read = std::nullopt) {
    if (!done) return;
    const std::lock_guard lock(mutex_);
    std::uint64_t size = stage.granted.position();
    for (const auto& [id, receipt] : stage.receipts)
      size = std::max(size, receipt.results().back().position());
    const bool lasts = durability_ == Durability::every_answer ||
                       (durability_ == Durability::commits && step.durable);
    answers_.push_back({.step = step.name, .granted = stage.granted});
    if (read) {
      answers_.back().durable_head = read;
    } else if (lasts) {
      sizes_.emplace_back(answers_.size() - 1, size + 1);
    }
    vfs_.note_answer(answers_.size());
  }

  FaultVfs& vfs_ = FaultVfs::instance();
  const Durability durability_;
  const ScratchFolder folder_;
  Stage first_;
  Stage second_;
  std::shared_ptr<DiskLog> log_;
  std::mutex mutex_;
  std::vector<Answer> answers_;
  std::vector<std::pair<std::size_t, std::uint64_t>> sizes_;  // of the heads that must last
  std::atomic<bool> wrote_ = false;
  std::atomic<bool> answered_ = false;
  std::atomic<bool> finished_ = false;
  std::atomic<bool> started_ = false;
};

Step root_read(TwoOpenings& two) {
  return {"root", true, [&two](Stage& stage) -> Status {
            const auto head = stage.store->root();
            if (!head) return fail(head.error());
            two.seen = *head;
            return {};
          }};
}

void cut_at(Durability durability) {
  TwoOpenings two(durability);
  std::vector<Round> rounds;
  const CommitSpec releases{.after = AfterCommit::release};
  using enum Moment;
  rounds.push_back({executed("r", {"a"}), executed("s", {"b"}), after_flush});
  rounds.push_back({executed("r", {"c"}), executed("r", {"d"}), after_flush});
  rounds.push_back({executed("r", {"e"}), executed("r", {"f"}), before_flush});
  rounds.push_back({executed("r", {"g"}), root_read(two), before_flush});
  rounds.push_back({committed("t", {"h"}, releases), acquired("t", "bob"), after_flush});
  two.play(acquired("t", "ann"));
  for (Round& round : rounds) {
    two.play(round);
    INFO(round.first.name << " and " << round.second.name);
    CHECK(two.met());
    CHECK(round.first_done.has_value());
    CHECK(round.second_done.has_value());
  }
  const auto cuts =
      cut_everywhere(two.take("two openings"), {.first_seed = how_many("RNG_SEED", 0)}, 40);
  for (const auto& failure : cuts.failures)
    UNSCOPED_INFO(failure);
  CHECK(cuts.failed == 0);
  CHECK(cuts.images > cuts.places);
  std::printf("power cuts under two openings: %llu images at %llu places\n",
              static_cast<unsigned long long>(cuts.images),
              static_cast<unsigned long long>(cuts.places));
}

}  // namespace

TEST_CASE("a power cut takes back no answer that another opening's flush carries", "[power]") {
  cut_at(Durability::commits);
  cut_at(Durability::every_answer);
}

}  // namespace wallock::test
