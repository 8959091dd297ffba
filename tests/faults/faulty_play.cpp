#include "faulty_play.hpp"

#include <algorithm>
#include <filesystem>

#include "sqlite/invariants.hpp"
#include "temp_store.hpp"

namespace wallock::test {
namespace {

// One row of each table as a text, the tables of the library and of the application.
std::string query_for_all(RawDatabase& raw) {
  return raw.text(
      "SELECT group_concat('SELECT ''' || name || ''' || ' || (SELECT group_concat('quote(\"' || "
      "c.name || '\")', '||'',''||') FROM pragma_table_info(t.name) AS c) || ' AS line FROM ' || "
      "name, ' UNION ALL ') FROM (SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT "
      "LIKE 'sqlite_%' ORDER BY name) AS t");
}

class Paused {
 public:
  Paused() { FaultVfs::instance().pause(true); }
  Paused(const Paused&) = delete;
  Paused& operator=(const Paused&) = delete;
  ~Paused() { FaultVfs::instance().pause(false); }
};

// The step that the fault's call falls into.
std::size_t step_of(const Fault& fault, const std::vector<std::uint64_t>& ends) {
  const auto found = std::upper_bound(ends.begin(), ends.end(), fault.at);
  return static_cast<std::size_t>(found - ends.begin());
}

class Play {
 public:
  Play(const Scenario& scenario, Durability durability, const Fault& fault)
      : scenario_(scenario), fault_(fault), stage_(folder_.path(), durability) {
    set_up(scenario, stage_);
  }

  Played run(std::size_t faulty) {
    FaultVfs& vfs = FaultVfs::instance();
    vfs.arm(fault_);
    for (std::size_t i = 0; i < scenario_.steps.size() && played_.wrong.empty() && !over_; ++i) {
      const Step& step = scenario_.steps[i];
      const bool is_near = i == faulty || (i > faulty && fault_.then);
      const std::string before = is_near ? content() : std::string();
      const bool had_it = vfs.injected() > 0;
      const Status done = step.run(stage_);
      if (!had_it && vfs.injected() > 0) note_injection(step);
      if (!done) fail_and_go_on(step, done.error(), is_near ? &before : nullptr);
    }
    played_.injected = vfs.injected() > 0;
    vfs.disarm();
    stage_.store.reset();
    stage_.other.reset();
    if (played_.wrong.empty()) check_end();
    return played_;
  }

 private:
  [[nodiscard]] std::string content() const {
    const Paused paused;
    return content_of(stage_.path());
  }

  // The opening does without what it can do without, and health tells.
  void note_injection(const Step& step) {
    played_.closing = step.name == "close";
    for (auto* const store : {&stage_.store, &stage_.other}) {
      const Paused paused;
      if (!*store) continue;
      const auto health = (*store)->health();
      played_.surfaced = played_.surfaced || (health && !health->shares_flushes);
    }
  }

  void wrong(const std::string& what) {
    if (played_.wrong.empty())
      played_.wrong = scenario_.name + ", " + to_string(fault_) + ": " + what;
  }

  // The call that failed is repeated until it succeeds: the second fault may meet it as well.
  void fail_and_go_on(const Step& step, const Error& error, const std::string* before) {
    FaultVfs& vfs = FaultVfs::instance();
    bool done = check_failure(step, error, before);
    if (fault_.then && vfs.injected() == 1) {
      const std::string between = content();
      const Status again = step.run(stage_);
      if (again || is_over(done, again)) return;
      done = check_failure(step, again.error(), &between) || done;
    }
    vfs.disarm();
    const Status again = step.run(stage_);
    if (again || is_over(done, again)) return;
    wrong(step.name + " again: " + to_string(again.error()));
  }

  // What was done cannot be done again; but what it gave, the program does not have.
  bool is_over(bool done, const Status& again) {
    over_ = done && again.error().error_class() == ErrorClass::business;
    return over_;
  }

  // True if the step was done although it failed, and says that it does not know.
  bool check_failure(const Step& step, const Error& error, const std::string* before) {
    FaultVfs& vfs = FaultVfs::instance();
    if (vfs.injected() == 0) wrong(step.name + " without a fault: " + to_string(error));
    played_.surfaced = true;
    if (!may_answer(fault_.kind, error.code())) wrong(step.name + " says " + to_string(error));
    const bool changed = before != nullptr && content() != *before;
    const bool unknown = error.code() == Errc::outcome_unknown;
    if (changed && !unknown && !step.opens) {
      wrong(step.name + " changed something and says " + to_string(error));
    }
    const Paused paused;
    if (!is_free(stage_.path())) wrong(step.name + " keeps a transaction open");
    return changed && unknown;
  }

  void check_end() {
    const auto found = sqlite::check_invariants(stage_.path());
    if (!found) return wrong("at the end: " + to_string(found.error()));
    if (!found->empty()) return wrong("at the end: " + to_string(found->front()));
    RawDatabase raw(stage_.path());
    if (raw.text("PRAGMA integrity_check") != "ok") wrong("at the end: the pages are not in order");
    if (raw.text("PRAGMA journal_mode") != "wal") wrong("at the end: no write-ahead log");
  }

  const Scenario& scenario_;
  const Fault fault_;
  const ScratchFolder folder_;
  Stage stage_;
  Played played_;
  bool over_ = false;
};

}  // namespace

std::string content_of(const std::string& path) {
  if (!std::filesystem::exists(path)) return {};
  RawDatabase raw(path);
  const std::string all = query_for_all(raw);
  if (all.empty()) return {};
  return raw.text("SELECT group_concat(line, char(10)) FROM (" + all + ")");
}

bool is_free(const std::string& path) {
  RawDatabase raw(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  return raw.run("BEGIN IMMEDIATE; ROLLBACK") == "ok";
}

bool may_answer(Fault::Kind kind, Errc code) {
  switch (kind) {
    case Fault::Kind::io_error:
      return code == Errc::io_error || code == Errc::outcome_unknown ||
             code == Errc::store_unavailable;
    case Fault::Kind::full:
      return code == Errc::disk_full;
    case Fault::Kind::short_read:
      // Zeros in the middle of a file cannot be told from damage.
      return code == Errc::io_error || code == Errc::outcome_unknown ||
             code == Errc::store_corrupt || code == Errc::not_a_store ||
             code == Errc::ledger_damaged;
    case Fault::Kind::busy:
      return code == Errc::busy;
  }
  return false;
}

std::vector<std::uint64_t> calls_of(const Scenario& scenario, Durability durability,
                                    Fault::Kind kind) {
  FaultVfs& vfs = FaultVfs::instance();
  const ScratchFolder folder;
  Stage stage(folder.path(), durability);
  set_up(scenario, stage);
  vfs.arm({.kind = kind, .at = UINT64_MAX});
  std::vector<std::uint64_t> ends;
  for (const Step& step : scenario.steps) {
    static_cast<void>(step.run(stage));
    ends.push_back(vfs.calls());
  }
  vfs.disarm();
  return ends;
}

Played play(const Scenario& scenario, Durability durability, const Fault& fault,
            const std::vector<std::uint64_t>& ends) {
  return Play(scenario, durability, fault).run(step_of(fault, ends));
}

}  // namespace wallock::test
