#include "world.hpp"

#include <algorithm>
#include <utility>

#include "first_store.hpp"
#include "machine_vfs.hpp"
#include "randomness.hpp"

namespace wallock::test {
namespace {

constexpr int observer = 0;

Options options_of(Random& random, std::shared_ptr<const Clock> clock) {
  Options options;
  constexpr Durability levels[] = {Durability::commits, Durability::commits,
                                   Durability::every_answer, Durability::relaxed};
  options.durability = levels[random.below(4)];
  options.breaker = {.trip_after = ModelBreaker::trip_after,
                     .first_interval = Duration(ModelBreaker::first_interval),
                     .max_interval = Duration(ModelBreaker::max_interval)};
  options.delivery.max_attempts = StoreModel::max_attempts;
  options.delivery.max_age = Duration(StoreModel::max_age);
  options.operation_timeout = std::chrono::milliseconds(50);
  options.clock = std::move(clock);
  return options;
}

std::string_view to_string(Flushes flushes) {
  switch (flushes) {
    case Flushes::shared:
      return "shared flushes";
    case Flushes::own:
      return "own flushes";
    case Flushes::either:
      return "flushes of both kinds";
  }
  return "?";
}

std::string boot_name(std::uint64_t boot) { return "boot " + std::to_string(boot); }

bool is_transient(Errc code) { return error_class(code) == ErrorClass::transient; }

// Either the fresh store, made once, or nothing.
StoreState first_state(const ManualClock& clock, bool exists) {
  StoreState state;
  state.model.now = clock.now().time_since_epoch().count();
  state.boot = 1;
  state.exists = exists;
  state.must_last = true;
  if (exists) state.rows = state.model.rows();
  return state;
}

}  // namespace

World::World(std::uint64_t seed, const std::string& folder, const Planted& planted, Trace& trace,
             Sometimes& sometimes)
    : has_sidecar_(seed % 6 != 5),
      path_(folder + store_name(has_sidecar_)),
      planted_(planted),
      trace_(trace),
      sometimes_(sometimes),
      random_(seed),
      clock_(std::make_shared<ManualClock>(Instant(std::chrono::hours(1)),
                                           WallTime(std::chrono::days(20'000)), boot_name(1))),
      sidecar_(sidecar_in(folder)) {
  use_machine_vfs();
  const Image& fresh = fresh_in(folder, has_sidecar_);
  sidecar_.forget();
  options_ = options_of(random_, clock_);
  constexpr Flushes ways[] = {Flushes::shared, Flushes::own, Flushes::either};
  flushes_ = ways[random_.below(3)];
  const bool exists = !random_.chance(1, 8);
  seed_randomness(random_.next());
  machine_ = std::make_unique<Machine>(exists ? fresh : Image{}, trace_, random_.next(),
                                       planted_.drops_flushes);
  if (planted_.forgets_failed) machine_->forget_failed_flushes();
  if (has_sidecar_) machine_->on_death([this] { sidecar_.keep(); });
  machine_->on_sleep(
      [this](int microseconds) { clock_->advance(std::chrono::microseconds(microseconds)); });
  expected_ = std::make_unique<Expectation>(first_state(*clock_, exists));
  workers_.resize(random_.chance(1, 4) ? 3 : 2);
}

World::~World() {
  observer_.reset();
  workers_.clear();
}

void World::fail_with(const std::string& words) const { throw Wrong(words); }

bool World::is_flushed(Promise promise) const {
  switch (options_.durability) {
    case Durability::every_answer:
      return true;
    case Durability::commits:
      return promise == Promise::durable;
    case Durability::relaxed:
      return false;
  }
  return true;
}

void World::run(std::uint64_t steps) {
  trace_.tell(std::string(to_string(options_.durability)) + ", " +
              std::string(to_string(flushes_)) + ", " + std::to_string(workers_.size()) +
              (has_sidecar_ ? " workers" : " workers, no sidecar"));
  if (!has_sidecar_) saw("no sidecar");
  for (; steps_ < steps; ++steps_)
    step();
  finish();
}

void World::step() {
  const auto dice = below(1000);
  Worker& worker = workers_[below(workers_.size())];
  if (dice < 110) return pass_time();
  if (dice < (is_tense() ? 260 : 120)) {
    trace_.tell("power cut between calls");
    saw("power cut between calls");
    machine_->cut_power();
    return cut_power();
  }
  if (!worker.is_open()) return open(worker);
  if (dice < 138) return kill(worker);
  if (dice < 154) return close(worker);
  any_call(worker);
}

void World::pass_time() {
  if (below(3) == 0) {
    saw("wall clock jumped");
    clock_->jump_wall(Duration(std::chrono::seconds(1)) *
                      (static_cast<std::int64_t>(below(7200)) - 3600));
  }
  const auto most = std::chrono::milliseconds(below(8) == 0 ? 60'000 : 4'000);
  clock_->advance(std::chrono::milliseconds(below(static_cast<std::uint64_t>(most.count()))));
  trace_.tell("now " + std::to_string(now()));
}

// Mostly none. What happens at a flush happens between what is written and what is told.
void World::draw_trouble(std::uint64_t asks, std::uint64_t often) {
  using Kind = Trouble::Kind;
  if (is_calm_ || !random_.chance(is_tense() ? 10 : often, 20)) return machine_->arm({});
  Trouble trouble;
  const auto dice = below(14);
  trouble.at = below(asks);
  if (dice < 2) {
    trouble.kind = Kind::io_error;
  } else if (dice < 4) {
    trouble = {.kind = Kind::lost_flush, .at = below(3)};
  } else if (dice < 6) {
    trouble = {.kind = Kind::full, .at = below(3)};
  } else if (dice < 7) {
    trouble = {.kind = Kind::busy, .at = below(8)};
  } else if (dice < 9) {
    trouble.kind = Kind::death;
  } else if (dice < 11) {
    trouble = {.kind = Kind::death, .at = below(3), .only = Ask::flush};
  } else if (dice < 12) {
    trouble = {.kind = Kind::power_cut, .at = below(3), .only = Ask::flush};
  } else {
    trouble.kind = Kind::power_cut;
  }
  machine_->arm(trouble);
}

void World::open(Worker& worker) {
  worker.process = ++processes_;
  trace_.tell("process " + std::to_string(worker.process) + " opens");
  machine_->set_process(worker.process);
  options_.share_flushes =
      flushes_ == Flushes::shared || (flushes_ == Flushes::either && random_.chance(1, 2));
  if (flushes_ == Flushes::either) {
    trace_.tell(options_.share_flushes ? "  shares flushes" : "  flushes for itself");
  }
  draw_trouble(160);
  auto opened = sqlite::open_repository(
      path_, options_, InstanceId{static_cast<std::uint64_t>(worker.process)}, clock_);
  const bool struck = machine_->disarm();
  const bool died = machine_->is_dead(worker.process);
  if (opened && machine_->has_power() && !died) {
    worker.store = *std::move(opened);
    const StoreState& before = expected_->now();
    const bool raises = !before.exists || before.boot != boot_;
    expected_->opened(boot_, now());
    look();
    if (raises) expected_->lasts();
    return;
  }
  expected_->may_have_opened(boot_, now());
  last_blow_ = steps_;
  if (!opened) trace_.tell("  " + std::string(to_string(opened.error().code())));
  if (!machine_->has_power()) {
    saw("power cut in an opening");
    opened = fail(Errc::busy);
    return cut_power();
  }
  if (died) {
    saw("death in an opening");
    observer_.reset();
    opened = fail(Errc::busy);
    return bury(worker);
  }
  if (!is_transient(opened.error().code())) {
    fail_with("an opening was answered " + to_string(opened.error()));
  }
  if (!struck) fail_with("an opening failed without a fault: " + to_string(opened.error()));
  saw("opening failed");
  look();
}

void World::close(Worker& worker) {
  trace_.tell("process " + std::to_string(worker.process) + " closes");
  observer_.reset();
  machine_->set_process(worker.process);
  draw_trouble(below(4) == 0 ? 60 : 8, 12);
  const auto writes = machine_->database_writes();
  worker.store = {};
  if (machine_->database_writes() != writes) saw("checkpoint at a close");
  machine_->disarm();
  if (!machine_->has_power()) {
    saw("power cut in a close");
    return cut_power();
  }
  if (machine_->is_dead(worker.process)) {
    saw("death in a close");
    bury(worker);
  }
}

void World::kill(Worker& worker) {
  trace_.tell("process " + std::to_string(worker.process) + " dies between calls");
  saw("death between calls");
  machine_->kill(worker.process);
  bury(worker);
}

void World::bury(Worker& worker) {
  observer_.reset();
  worker.store = {};
  machine_->bury(worker.process);
  if (has_sidecar_) {
    if (!planted_.buries_quietly) sidecar_.put_back();
    expected_->died(worker.process);
  }
  look();
}

void World::cut_power() {
  observer_.reset();
  for (Worker& worker : workers_)
    worker.store = {};
  leases_.clear();
  probes_.clear();
  deliveries_.clear();
  unanswered_lease_.reset();
  head_ = {};
  machine_->restart();
  ++boot_;
  clock_->reboot(boot_name(boot_), Instant(std::chrono::seconds(1 + below(30))));
  expected_->power_cut();
  trace_.tell("boot " + std::to_string(boot_));
}

// Nobody looks while no process has the store: the next one shall find it as it was left.
void World::look(bool thoroughly) {
  bool is_open = false;
  for (const Worker& worker : workers_)
    is_open = is_open || worker.is_open();
  if (!is_open) return;
  machine_->set_process(observer);
  if (!observer_) observer_ = std::make_unique<Observer>(path_);
  const std::string rows = observer_->rows();
  if (!expected_->seen(rows)) {
    fail_with("the store holds\n  " + rows + "\nand may hold" + expected_->describe());
  }
  if (const auto happened = expected_->take_outcome()) {
    saw(*happened ? "an open outcome had happened" : "an open outcome had not happened");
  }
  if (!thoroughly) return;
  if (const auto words = observer_->disagreement(); !words.empty()) fail_with(words);
}

bool World::does(Worker& worker, const Call& call) {
  trace_.tell("process " + std::to_string(worker.process) + " " + call.name);
  machine_->set_process(worker.process);
  work_began_.reset();
  const Nanos before = now();
  const auto writes = machine_->database_writes();
  draw_trouble(below(2) == 0 ? 24 : 60);
  const Said said = call.ask(*worker.store.repository);
  const bool struck = machine_->disarm();
  if (machine_->database_writes() != writes) saw("checkpoint in a call");
  trace_.tell("  " + said.words);
  StoreState next = expected_->now();
  next.model.now = work_began_.value_or(now());
  if (call.promise == Promise::reads) next.model.now = before;
  next.must_last = is_flushed(call.promise);
  return came_through(worker, call, said, std::move(next), struck);
}

// True if the caller lives and has an answer that is no failure.
bool World::came_through(Worker& worker, const Call& call, const Said& answer, StoreState next,
                         bool struck) {
  if (struck) last_blow_ = steps_;
  const std::string expected = call.model(next.model);
  const Said said = told(answer, expected);
  next.rows = next.model.rows();
  if (!machine_->has_power()) {
    saw("power cut in a call");
    expected_->may_have_happened(std::move(next));
    cut_power();
    return false;
  }
  if (machine_->is_dead(worker.process)) {
    saw(call.name.starts_with("commit") ? "death in a commit" : "death in another call");
    expected_->may_have_happened(std::move(next));
    bury(worker);
    return false;
  }
  if (said.error && is_transient(*said.error)) {
    if (!struck) fail_with(call.name + " failed without a fault: " + said.words);
    saw("answered " + said.words);
    if (*said.error == Errc::outcome_unknown) expected_->may_have_happened(std::move(next));
    look();
    return false;
  }
  if (struck) saw("a fault that nobody noticed");
  judge(call, said, expected, std::move(next));
  look(below(16) == 0);
  return true;
}

// Of an answer in several parts, each.
void World::saw_answer(std::string_view words) {
  while (!words.empty()) {
    const auto length = std::min(words.find(' '), words.size());
    const std::string_view word = words.substr(0, length);
    if (word.find_first_of("0123456789") == std::string_view::npos) {
      saw("answered " + std::string(word));
    }
    words.remove_prefix(std::min(length + 1, words.size()));
  }
}

void World::judge(const Call& call, const Said& said, const std::string& expected,
                  StoreState next) {
  if (call.promise != Promise::reads) saw_answer(said.words);
  if (said.words != expected) {
    fail_with(call.name + " was answered\n  " + said.words + "\nand not\n  " + expected);
  }
  // What changed nothing wrote nothing, and flushed nothing of what rides.
  const bool changed = next.rows != expected_->now().rows;
  expected_->happened(std::move(next));
  if (changed && is_flushed(call.promise)) return expected_->lasts();
  if (call.promise != Promise::rides || options_.durability == Durability::every_answer) {
    expected_->answered_from_now();
  }
}

// As the bug that is planted tells it.
Said World::told(const Said& said, const std::string& expected) const {
  if (said.error != Errc::outcome_unknown) return said;
  if (planted_.trusts_unknown) return {.words = expected};
  if (planted_.denies_unknown) return {.words = "io_error", .error = Errc::io_error};
  return said;
}

// No token is ever answered twice, nor one below another, whatever became of the machine.
void World::note_granted(FencingToken token) {
  if (token <= highest_) {
    fail_with("token " + to_string(token) + " came after " + to_string(highest_));
  }
  highest_ = token;
}

}  // namespace wallock::test
