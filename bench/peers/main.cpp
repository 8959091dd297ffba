// wallock beside what else leases and outboxes are built on, each as its own users would use it, on
// the same disk, by turns. run.sh starts the servers and calls this.
#include <cstdio>
#include <filesystem>

#include "cases.hpp"
#include "peers.hpp"
#include "support/arguments.hpp"
#include "support/machine.hpp"
#include "support/rows.hpp"
#include "support/scratch_folder.hpp"

namespace {

using namespace wallock::bench;

constexpr const char* usage =
    "usage: wallock_bench_peers [--dir=FOLDER] [--json=FILE] [--rounds=3]\n"
    "  [--milliseconds=500 of each turn] [--singles=500] [--batches=10] [--only=TEXT in a case]\n"
    "  [--redis-always=SOCKET] [--redis-everysec=SOCKET] [--postgres=FOLDER of the socket]";

std::vector<Peer> all_peers(const Places& places) {
  std::vector<Peer> peers = wallock_peers(places);
  const auto add = [&peers](std::vector<Peer> more) {
    for (Peer& peer : more)
      peers.push_back(std::move(peer));
  };
#ifdef WALLOCK_PEERS_REDIS
  add(redis_peers(places));
#else
  peers.push_back({.name = "redis", .skipped = "skipped"});
#endif
#ifdef WALLOCK_PEERS_POSTGRES
  add(postgres_peers(places));
#else
  peers.push_back({.name = "postgres", .skipped = "skipped"});
#endif
  add(sqlite_peers(places));
  add(flock_peers(places));
  return peers;
}

// Each peer's own words, beside the machine's.
Machine describe(const std::string& dir, const std::vector<Peer>& peers, const Settings& settings) {
  Machine machine = describe_machine(dir);
  machine.pop_back();  // the other programs' baseline
  machine.emplace_back("rounds", std::to_string(settings.rounds));
  machine.emplace_back("turn", std::to_string(settings.length.count()) + " ms");
  for (const Peer& peer : peers) {
    const std::string words = (peer.durable ? "durable; " : "not durable; ") + peer.durability +
                              "; waits: " + peer.waiting;
    machine.emplace_back("peer " + peer.name, peer.skipped.empty() ? words : peer.skipped);
  }
  return machine;
}

struct Case {
  const char* name;
  std::vector<Row> (*run)(const std::vector<Peer>& peers, const Settings& settings);
};

const std::vector<Case> cases{
    {"pair", uncontended_pair},
    {"one key", one_key},
    {"own keys", own_keys},
    {"enqueue 1", [](const auto& peers, const auto& s) { return enqueue(peers, s, 1); }},
    {"enqueue 100", [](const auto& peers, const auto& s) { return enqueue(peers, s, 100); }},
    {"claim 1",
     [](const auto& peers, const auto& s) { return claim_and_acknowledge(peers, s, 1); }},
    {"claim 100",
     [](const auto& peers, const auto& s) { return claim_and_acknowledge(peers, s, 100); }},
};

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, usage);
  const std::string dir = arguments.text("dir", ".");
  const ScratchFolder folder(dir, "peers");
  const std::vector<Peer> peers = all_peers({.folder = folder.str(),
                                             .redis_always = arguments.text("redis-always", ""),
                                             .redis_everysec = arguments.text("redis-everysec", ""),
                                             .postgres = arguments.text("postgres", "")});
  Settings settings;
  settings.rounds = arguments.number("rounds", settings.rounds);
  settings.length = std::chrono::milliseconds(arguments.number("milliseconds", 500));
  settings.singles = arguments.number("singles", settings.singles);
  settings.batches = arguments.number("batches", settings.batches);
  const Machine machine = describe(dir, peers, settings);
  const std::string only = arguments.text("only", "");
  std::vector<Row> rows;
  for (const Case& one : cases) {
    if (std::string(one.name).find(only) == std::string::npos) continue;
    std::fprintf(stderr, "running %s\n", one.name);
    for (Row& row : one.run(peers, settings))
      rows.push_back(std::move(row));
  }
  print(machine, rows);
  write_json(arguments.text("json", ""), machine, rows);
  return EXIT_SUCCESS;
}
