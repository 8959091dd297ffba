#include "power_cut.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <span>
#include <stdexcept>

#include "fault_vfs.hpp"
#include "sqlite/invariants.hpp"
#include "temp_store.hpp"

namespace wallock::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_failures_told = 5;

bool is_flushed(const Step& step, Durability durability) {
  switch (durability) {
    case Durability::every_answer:
      return true;
    case Durability::commits:
      return step.durable;
    case Durability::relaxed:
      return false;
  }
  return false;
}

Answer answer_of(const Step& step, Stage& stage, Durability promised) {
  Answer answer{.step = step.name, .granted = stage.granted};
  if (is_flushed(step, promised) && stage.store) {
    answer.durable_head = stage.store->root().value();
  }
  return answer;
}

// What the program had been told when the power went.
struct Told {
  FencingToken granted = {};
  std::optional<TreeHead> durable_head = {};
};

Told told_by(const Recording& recording, std::uint64_t answers) {
  Told told;
  for (const Answer& answer : std::span(recording.answers).first(answers)) {
    told.granted = std::max(told.granted, answer.granted);
    if (answer.durable_head) told.durable_head = answer.durable_head;
  }
  return told;
}

// Opens what the disk holds, as the first program does after the restart, and looks at it.
class Restart {
 public:
  Restart(const ScratchFolder& folder, Durability durability, const Wanted& wanted)
      : stage_(folder.path(), durability), rises_(!wanted.same_boot) {
    stage_.clock->reboot(wanted.same_boot ? "boot-1" : "boot-after", Instant(1h));
  }

  // Empty if all is well.
  std::string check(const Told& told, bool thoroughly) {
    auto opened = Coordinator::open(stage_.path(), stage_.options);
    if (!opened) return "not opened: " + to_string(opened.error());
    stage_.store.emplace(*std::move(opened));
    {
      RawDatabase raw(stage_.path());
      if (auto wrong = lost(told); !wrong.empty()) return wrong;
      if (auto wrong = broken_rows(raw); !wrong.empty()) return wrong;
      if (auto wrong = fresh_token(told); !wrong.empty()) return wrong;
      if (auto wrong = thoroughly ? goes_on(raw) : ""; !wrong.empty()) return wrong;
    }
    stage_.store.reset();
    return thoroughly ? broken_file() : std::string();
  }

 private:
  [[nodiscard]] std::string lost(const Told& told) {
    const auto report = stage_.store->verify(told.durable_head);
    if (!report) return "verify: " + to_string(report.error());
    if (report->verdict ==
        (told.durable_head ? VerifyVerdict::anchored : VerifyVerdict::unanchored)) {
      return {};
    }
    return "lost: " + std::string(to_string(report->verdict)) + " " +
           std::to_string(report->head.size) + " of " +
           std::to_string(told.durable_head.value_or(TreeHead()).size);
  }

  // The rows are what the ledger tells, the pages are in order, and the application has a row for
  // each action and none besides.
  [[nodiscard]] static std::string broken_rows(RawDatabase& raw) {
    const auto found = sqlite::check_rows(raw.handle());
    if (!found) return "invariants: " + to_string(found.error());
    if (!found->empty()) return to_string(found->front());
    const auto integrity = raw.text("PRAGMA integrity_check");
    if (integrity != "ok") return "integrity: " + integrity;
    const bool has_app = raw.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'app'") == 1;
    const std::string actions =
        "SELECT action_id, token FROM wallock_lease_queue_events WHERE kind = 20";
    const std::string app = has_app ? "SELECT action, token FROM app" : "SELECT 1, 1 WHERE 0";
    const auto differ =
        raw.integer("SELECT count(*) FROM (SELECT * FROM (" + actions + " EXCEPT " + app +
                    ") UNION ALL SELECT * FROM (" + app + " EXCEPT " + actions + "))");
    return differ == 0 ? std::string() : "the application's rows are not those of its actions";
  }

  [[nodiscard]] std::string broken_file() const {
    const auto found = sqlite::check_invariants(stage_.path());
    if (!found) return "invariants: " + to_string(found.error());
    return found->empty() ? std::string() : to_string(found->front());
  }

  [[nodiscard]] std::string fresh_token(const Told& told) {
    const auto lease = stage_.store->acquire("after the restart", {.ttl = 1s});
    if (!lease) return "no lease: " + to_string(lease.error());
    const bool rose = lease->token().epoch() > told.granted.epoch();
    if (lease->token() > told.granted && (rose || !rises_)) return {};
    return "token " + to_string(lease->token()) + " after " + to_string(told.granted);
  }

  // Every resource can be worked with, if its breaker lets it, and the outbox runs empty.
  [[nodiscard]] std::string goes_on(RawDatabase& raw) {
    for (const std::string resource : {"r", "s"}) {
      const auto done = stage_.store->execute(
          resource, ActionFields{.id = "after " + resource, .destination = "bank"});
      const bool closed =
          raw.integer("SELECT count(*) FROM wallock_breakers WHERE state <> 0 AND resource = '" +
                      resource + "'") == 0;
      if (closed != done.has_value()) return "stands still at " + resource;
    }
    constexpr int most_in_line = 20;
    for (int round = 0; round < most_in_line; ++round) {
      const auto found = stage_.store->claim({.destination = "bank", .limit = 100});
      if (!found) return "claim: " + to_string(found.error());
      for (const Delivery& delivery : *found) {
        const auto done = stage_.store->settle(delivery, DeliveryOutcome::delivered());
        if (!done) return "settle: " + to_string(done.error());
      }
      if (found->empty()) break;
    }
    const auto left = raw.integer(
        "SELECT count(*) FROM wallock_deliveries AS d LEFT JOIN wallock_breakers AS b "
        "USING (resource) WHERE b.state IS NULL OR b.state = 0");
    return left == 0 ? std::string() : "deliveries are left";
  }

  Stage stage_;
  bool rises_;  // the epoch
};

bool is_place(const DiskEvent& event) { return event.kind != DiskEvent::Kind::answer; }

}  // namespace

Recording record(const Scenario& scenario, Durability durability,
                 std::optional<Durability> promised) {
  FaultVfs& vfs = FaultVfs::instance();
  const ScratchFolder folder;
  Stage stage(folder.path(), durability);
  const auto log = std::make_shared<DiskLog>(set_up(scenario, stage));
  Recording recording{
      .scenario = scenario.name, .durability = durability, .log = log, .answers = {}};
  vfs.record(folder.path(), *log);
  for (const Step& step : scenario.steps) {
    const Status done = step.run(stage);
    if (!done) {
      vfs.stop_recording();
      throw std::runtime_error(scenario.name + ", " + step.name + ": " + to_string(done.error()));
    }
    recording.answers.push_back(answer_of(step, stage, promised.value_or(durability)));
    vfs.note_answer(recording.answers.size());
  }
  vfs.stop_recording();
  return recording;
}

namespace {

std::size_t hash_of(const Image& image) {
  std::size_t hash = 0;
  for (const auto& [name, content] : image)
    hash = hash * 31 + std::hash<std::string>()(name) * 17 + std::hash<std::string>()(content);
  return hash;
}

std::string restart_on(const ScratchFolder& folder, const Image& image, const Recording& recording,
                       const Wanted& wanted, const Told& told, bool thoroughly) {
  folder.clear();
  folder.age_sidecar(hash_of(image));
  folder.write(image);
  try {
    return Restart(folder, recording.durability, wanted).check(told, thoroughly);
  } catch (const std::exception& error) {
    return std::string("thrown: ") + error.what();
  }
}

// The power cuts of one recording, one place after another.
class Cutter {
 public:
  Cutter(const Recording& recording, const Wanted& wanted, std::uint64_t seeds)
      : recording_(recording),
        wanted_(wanted),
        seeds_(seeds),
        disk_(recording.log->before(), wanted.lies) {}

  Cuts run(std::uint64_t every) {
    for (const DiskEvent& event : recording_.log->events()) {
      if (is_place(event) && place_++ % every == 0) cut_here();
      if (event.kind == DiskEvent::Kind::answer) answers_ = event.offset;
      disk_.apply(event);
    }
    ++place_;
    cut_here();
    return cuts_;
  }

 private:
  void cut_here() {
    ++cuts_.places;
    const Told told = told_by(recording_, answers_);
    for (std::uint64_t i = 0; i < seeds_; ++i) {
      const std::uint64_t seed = wanted_.first_seed + i;
      const Image image = disk_.cut(seed);
      if (!seen_.emplace(answers_, hash_of(image)).second) continue;
      const bool thoroughly = ++cuts_.images % 4 == 0;
      const auto wrong = restart_on(folder_, image, recording_, wanted_, told, thoroughly);
      if (!wrong.empty()) note(seed, wrong);
    }
  }
  void note(std::uint64_t seed, const std::string& wrong) {
    if (++cuts_.failed > most_failures_told) return;
    cuts_.failures.push_back(recording_.scenario + ", place " + std::to_string(place_) + ", seed " +
                             std::to_string(seed) + ": " + wrong);
  }

  const Recording& recording_;
  const Wanted wanted_;
  const std::uint64_t seeds_;
  const ScratchFolder folder_;
  Disk disk_;
  Cuts cuts_;
  std::uint64_t answers_ = 0;
  std::uint64_t place_ = 0;
  std::set<std::pair<std::uint64_t, std::size_t>> seen_;  // images, after so many answers
};

}  // namespace

Cuts cut_everywhere(const Recording& recording, const Wanted& wanted, std::uint64_t seeds,
                    std::uint64_t every) {
  return Cutter(recording, wanted, seeds).run(every);
}

std::string cut_once(const Recording& recording, const Wanted& wanted, std::uint64_t place,
                     std::uint64_t seed) {
  const ScratchFolder folder;
  Disk disk(recording.log->before(), wanted.lies);
  std::uint64_t answers = 0;
  std::uint64_t at = 0;
  for (const DiskEvent& event : recording.log->events()) {
    if (is_place(event) && ++at == place) break;
    if (event.kind == DiskEvent::Kind::answer) answers = event.offset;
    disk.apply(event);
  }
  return restart_on(folder, disk.cut(seed), recording, wanted, told_by(recording, answers), true);
}

}  // namespace wallock::test
