// The end of a run: nothing goes wrong any more, and everything must work again soon.
#include <utility>

#include "call_words.hpp"
#include "names_only.hpp"
#include "sqlite/invariants.hpp"
#include "world.hpp"

namespace wallock::test {
namespace {

// The calls that a resource may take until it is committed to: of its breaker clear_forced, a probe
// and its verdict; an acquire and a commit. The times that pass in between are longer than any
// lease, probe or interval.
constexpr int rounds = 3;

std::string words_of(const std::vector<sqlite::Violation>& violations) {
  std::string words;
  for (const auto& violation : violations)
    words += "\n  " + sqlite::to_string(violation);
  return words;
}

}  // namespace

void World::finish() {
  is_calm_ = true;
  trace_.tell("nothing goes wrong any more");
  for (Worker& worker : workers_)
    if (!worker.is_open()) open(worker);
  for (Worker& worker : workers_)
    if (!worker.is_open()) fail_with("a worker could not open the store again");
  for (int r = 0; r < static_cast<int>(resources); ++r)
    work_again(workers_[static_cast<std::size_t>(r) % workers_.size()], r);
  deliver_all(workers_.front());
  look(true);
  const auto anchor = head_.size > 0 ? std::optional(head_) : std::nullopt;
  machine_->set_process(workers_.front().process);
  const auto report = workers_.front().store.repository->verify(anchor);
  if (!report) fail_with("verify: " + to_string(report.error()));
  if (report->verdict != (anchor ? VerifyVerdict::anchored : VerifyVerdict::unanchored)) {
    fail_with("the ledger is " + std::string(to_string(report->verdict)));
  }
  machine_->set_process(0);
  if (const auto pages = observer_->integrity(); pages != "ok") fail_with("pages: " + pages);
  const auto violations = sqlite::check_invariants(path_);
  if (!violations) fail_with("check_invariants: " + to_string(violations.error()));
  if (!violations->empty()) fail_with("invariants:" + words_of(*violations));
}

void World::work_again(Worker& worker, int r) {
  const auto size = [this] { return expected_->now().model.size; };
  for (int round = 0; round < rounds; ++round) {
    clock_->advance(std::chrono::seconds(120));
    StoreModel& model = const_cast<StoreModel&>(expected_->now().model);
    model.now = now();
    if (!model.breaker(r).starts_with("CLOSED")) {
      const auto shown = model.breaker(r);
      if (shown.ends_with("forced")) {
        static_cast<void>(
            does(worker, {.name = "clear_forced r" + std::to_string(r),
                          .promise = Promise::durable,
                          .ask =
                              [&](LeaseRepository& store) {
                                return said_done(store.clear_forced(name_of(r), deadline()));
                              },
                          .model = [&](StoreModel& after) { return after.clear_forced(r); }}));
      }
      probes_.clear();
      begin_recovery(worker, r);
      if (!probes_.empty()) complete_recovery(worker, KeptProbe(probes_.back()), true);
      continue;
    }
    const auto before = size();
    const StoreModel::Batch batch{{"z" + std::to_string(next_id_++), "last", true}};
    const auto actions = requests_of(batch);
    const ExecuteCommand command{
        .resource = name_of(r), .holder = holder_of(9), .instance = instance_of(worker.process)};
    const int process = worker.process;
    static_cast<void>(does(
        worker, {.name = "execute r" + std::to_string(r) + " at last",
                 .promise = Promise::durable,
                 .ask =
                     [&](LeaseRepository& store) {
                       return said(store.execute(command, actions, {}, deadline()),
                                   [](const Committed& done) { return words_of(done); });
                     },
                 .model = [&](StoreModel& after) { return after.execute(r, 9, process, batch); }}));
    if (size() == before + 3) return;
  }
  fail_with("r" + std::to_string(r) + " cannot be worked with any more");
}

// The outbox runs empty.
void World::deliver_all(Worker& worker) {
  for (std::uint64_t round = 0; !expected_->now().model.deliveries.empty(); ++round) {
    if (round > 200) fail_with("the outbox does not run empty");
    clock_->advance(std::chrono::seconds(30));
    deliveries_.clear();
    claim(worker);
    while (!deliveries_.empty()) {
      settle(worker);
      if (!deliveries_.empty()) deliveries_.pop_back();
    }
  }
}

Ran play(std::uint64_t seed, const Planted& planted, Sometimes& sometimes, std::ostream* story,
         bool bytes) {
  static const NamesOnly folder;
  Trace trace(story, bytes);
  Ran ran;
  try {
    World world(seed, folder.path(), planted, trace, sometimes);
    world.run(26);
  } catch (const std::exception& error) {
    ran.failure = error.what();
  }
  ran.trace = trace.hash();
  return ran;
}

}  // namespace wallock::test
