#include "crowd.hpp"

#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

#include "counters.hpp"
#include "process_support.hpp"

namespace wallock::test {
namespace {

using std::chrono::milliseconds;

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Record to_record(const AuditRecord& audit) {
  const LedgerEntry& entry = audit.entry();
  Record record{.position = audit.position(), .token = entry.token.value()};
  if (entry.resource) record.resource = entry.resource->str();
  if (entry.kind == RecordKind::lease_granted) {
    record.kind = Record::Kind::grant;
  } else if (entry.kind == RecordKind::action_recorded) {
    record.kind = Record::Kind::action;
    record.action = entry.action_id->str();
  } else if (entry.kind == RecordKind::lease_released || entry.kind == RecordKind::lease_revoked) {
    record.kind = Record::Kind::ending;
  }
  return record;
}

}  // namespace

Crowd::Crowd(unsigned seed, bool fenced)
    : database_(folder_ / "store.db"),
      fenced_(fenced),
      random_(seed),
      coordinator_(must(Coordinator::open(database_))) {
  const auto work = [](Transaction& transaction) {
    for (int i = 0; i < 4; ++i)
      create_counter(wallock::database(transaction), "counter-" + std::to_string(i));
  };
  static_cast<void>(must(coordinator_.execute("setup", ActionFields{.id = "setup"}, work)));
}

Crowd::Worker Crowd::start_worker(const std::vector<std::string>& unanswered) {
  names_.push_back("w" + std::to_string(names_.size() + 1));
  std::vector<std::string> arguments{database_, log_of(names_.back()), names_.back(),
                                     std::to_string(random_()), fenced_ ? "fenced" : "unfenced"};
  arguments.insert(arguments.end(), unanswered.begin(), unanswered.end());
  return {names_.back(), ChildProcess(program("worker"), std::move(arguments))};
}

void Crowd::start(std::size_t workers) {
  for (std::size_t i = 0; i < workers; ++i)
    workers_.push_back(start_worker());
}

void Crowd::strike(bool kills) {
  std::this_thread::sleep_for(milliseconds(10 + random(60)));
  Worker& worker = workers_[random(static_cast<unsigned>(workers_.size()))];
  if (kills && random(2) == 0) {
    kill(worker);
  } else {
    pause(worker);
  }
}

void Crowd::kill(Worker& worker) {
  worker.process.kill();
  REQUIRE(worker.process.wait() == ended_by_kill);
  ++killed_;
  const auto unanswered = unanswered_commit(worker.name);
  worker = start_worker(unanswered);
}

void Crowd::pause(Worker& worker) {
  REQUIRE(worker.process.pause());
  ++paused_;
  std::this_thread::sleep_for(milliseconds(90 + random(100)));
  worker.process.resume();
}

// The commit that a killed worker was at, as arguments for the one that repeats it.
std::vector<std::string> Crowd::unanswered_commit(const std::string& name) const {
  std::vector<Attempt> attempts;
  read_log(name, read_file(log_of(name)), attempts);
  if (attempts.empty()) return {};
  const Attempt& last = attempts.back();
  if (last.answer != Attempt::Answer::none || last.kind != Attempt::Kind::commit) return {};
  return {last.holder,
          last.resource,
          last.action,
          std::to_string(last.token),
          std::to_string(last.instance),
          std::to_string(last.value)};
}

std::vector<std::string> Crowd::end() {
  std::vector<std::string> bad;
  for (Worker& worker : workers_) {
    // One that has only just started would die of the signal.
    static_cast<void>(worker.process.read_line());
    worker.process.terminate();
  }
  for (Worker& worker : workers_) {
    const auto status = worker.process.wait();
    if (status == 0) continue;
    bad.push_back(worker.name + ": " + (status ? std::to_string(*status) : "still runs"));
  }
  return bad;
}

History Crowd::history() {
  History history;
  for (const std::string& name : names_)
    read_log(name, read_file(log_of(name)), history.attempts);
  for (const AuditRecord& audit : all_records(coordinator_)) {
    // The one action that made the tables.
    if (audit.entry().resource && audit.entry().resource->str() == "setup") {
      history.records.push_back({.position = audit.position()});
    } else {
      history.records.push_back(to_record(audit));
    }
  }
  SQLite::Database database(database_, SQLite::OPEN_READONLY, 10'000);
  database.exec("BEGIN");  // one snapshot
  read_increments(database, history);
  return history;
}

}  // namespace wallock::test
