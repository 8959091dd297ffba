// What must be true of a store when a storm is over.
#include <map>

#include "child_process.hpp"
#include "counters.hpp"
#include "process_support.hpp"
#include "sqlite/invariants.hpp"
#include "storm_ground.hpp"

namespace wallock::test {
namespace {

using Words = std::vector<std::string>;

// How often the ledger and the application's rows have an action, by its id.
struct Story {
  std::size_t records = 0;
  std::size_t rows = 0;
};
using Stories = std::map<std::string, Story>;

History read_rows(const std::string& path) {
  History history;
  SQLite::Database database(path, SQLite::OPEN_READONLY, 10'000);
  if (database.tableExists("increments")) read_increments(database, history);
  return history;
}

Stories read_stories(Coordinator& coordinator, const History& rows) {
  Stories stories;
  for (const AuditRecord& record : all_records(coordinator)) {
    if (record.entry().kind != RecordKind::action_recorded) continue;
    ++stories[record.entry().action_id->str()].records;
  }
  for (const Increment& increment : rows.increments)
    ++stories[increment.action].rows;
  return stories;
}

void check_rows(const Stories& stories, const History& rows, Words& wrong) {
  for (const auto& [action, story] : stories) {
    if (story.records == 1 && story.rows == 1) continue;
    wrong.push_back(action + ": " + std::to_string(story.records) + " records, " +
                    std::to_string(story.rows) + " rows");
  }
  std::map<std::string, std::int64_t> values;
  for (const Increment& increment : rows.increments) {
    if (increment.value != ++values[increment.resource]) {
      wrong.push_back(increment.action + " wrote " + std::to_string(increment.value));
    }
  }
  for (const auto& [resource, value] : rows.counters) {
    if (value != values[resource]) wrong.push_back(resource + " is " + std::to_string(value));
  }
}

// What was acknowledged is there, and nothing else but the one action that was under way.
void check_acknowledged(const Storm::Ground& ground, std::uint32_t lives, Stories stories,
                        Words& wrong) {
  for (std::uint32_t life = 0; life < lives; ++life) {
    const std::uint32_t acknowledged = ground.lives[life].acknowledged;
    for (std::uint32_t n = 1; n <= acknowledged; ++n) {
      if (stories.erase(storm_action(life, n)) == 0)
        wrong.push_back(storm_action(life, n) + " is lost");
    }
    stories.erase(storm_action(life, acknowledged + 1));
  }
  for (const auto& [action, story] : stories)
    wrong.push_back(action + " was never asked for");
}

// Nothing that a dead one held is held, and what it had claimed is delivered by others.
void check_use(Coordinator& coordinator, Words& wrong) {
  for (std::size_t i = 0; i < storm_resources; ++i) {
    const auto lease = coordinator.try_acquire(storm_resource(i));
    if (lease && coordinator.release(*lease)) continue;
    wrong.push_back(storm_resource(i) + (lease ? "" : ": " + to_string(lease.error())));
  }
  while (must(coordinator.health()).deliveries > 0) {
    const auto found =
        must(coordinator.claim({.destination = "bank", .limit = 1000, .wait = patience}));
    if (found.empty()) {
      wrong.emplace_back("a delivery that nobody gets");
      return;
    }
    for (const Delivery& delivery : found)
      static_cast<void>(must(coordinator.settle(delivery, DeliveryOutcome::delivered())));
  }
}

void check_file(const std::string& path, Words& wrong) {
  for (const auto& violation : must(sqlite::check_invariants(path)))
    wrong.push_back(to_string(violation));
  const std::string pages = integrity_check(path);
  if (pages != "ok") wrong.push_back(pages);
}

}  // namespace

Words Storm::check() {
  Words wrong;
  auto coordinator = must(Coordinator::open(database(), {.durability = Durability::relaxed}));
  check_file(database(), wrong);
  const History rows = read_rows(database());
  const Stories stories = read_stories(coordinator, rows);
  check_rows(stories, rows, wrong);
  check_acknowledged(*ground_, lives_, stories, wrong);
  check_use(coordinator, wrong);
  check_file(database(), wrong);
  return wrong;
}

}  // namespace wallock::test
