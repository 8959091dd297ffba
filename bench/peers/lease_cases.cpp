#include <sys/prctl.h>
#include <time.h>

#include <atomic>
#include <thread>

#include "cases.hpp"
#include "support/crowd.hpp"
#include "support/statistics.hpp"
#include "turns.hpp"

namespace wallock::bench {
namespace {

// More than any peer gets done in the time that it is measured.
constexpr std::size_t most_times = 1'000'000;

bool has_leases(const Peer& peer) { return static_cast<bool>(peer.lease); }
bool stands_alone(const Peer& peer) { return has_leases(peer) && !peer.only_in_company; }

std::string worker(std::size_t i) { return "worker-" + std::to_string(i); }

// The first client of a place makes tables and files, which two at once could not.
void open_alone(const Peer& peer, const std::string& space, Company company) {
  run_crowd(1, [&](std::size_t) { static_cast<void>(peer.lease(space, worker(0), company)); });
}

std::vector<Reading> pair_turn(const Peer& peer, const Settings& settings) {
  SharedTimes times(most_times);
  run_crowd(1, [&](std::size_t) {
    const auto client = peer.lease("pair", worker(0), Company::alone);
    client->acquire("account");
    client->release();
    const std::int64_t end = now_ns() + std::chrono::nanoseconds(settings.length).count();
    for (std::int64_t before = now_ns(); before < end;) {
      client->acquire("account");
      client->release();
      const std::int64_t after = now_ns();
      times.add(after - before);
      before = after;
    }
  });
  const std::vector<double> pairs = times.microseconds();
  return {{"p50", "us", percentile(pairs, 50)}, {"p99", "us", percentile(pairs, 99)}};
}

// What holders of one key write down, each while it has it.
struct Holding {
  std::uint32_t process = 0;
  std::int64_t acquired = 0, release_called = 0;
};

struct Log {
  std::atomic<std::uint32_t> holders{0};  // at this moment
  std::atomic<std::uint32_t> count{0};
};

constexpr std::size_t most_holdings = 100'000;

void hold(std::chrono::nanoseconds length) {
  const auto ns = length.count();
  const timespec span{.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &span, nullptr);
}

void contend(LeaseClient& client, std::uint32_t me, const Settings& settings, Log& log,
             Shared<Holding>& holdings) {
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  const std::int64_t end = now_ns() + std::chrono::nanoseconds(settings.length).count();
  while (now_ns() < end) {
    client.acquire("account");
    const std::int64_t acquired = now_ns();
    if (log.holders.fetch_add(1) != 0) give_up("one key", "two processes have it at once");
    const std::uint32_t number = log.count.fetch_add(1);
    hold(settings.hold);
    log.holders.fetch_sub(1);
    const std::int64_t called = now_ns();
    if (number < most_holdings) holdings[number] = {me, acquired, called};
    client.release();
  }
}

// From the call of one process's release to the return of another's acquire; a process that gets
// the key again right after its own release hands over to nobody.
std::vector<double> hand_overs(const Shared<Holding>& holdings, std::size_t count) {
  std::vector<double> times;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const Holding& former = holdings[i];
    const Holding& next = holdings[i + 1];
    if (former.process == next.process) continue;
    times.push_back(static_cast<double>(next.acquired - former.release_called) / 1000);
  }
  return times;
}

double jain(const Shared<Holding>& holdings, std::size_t count, std::size_t processes) {
  std::vector<double> got(processes);
  for (std::size_t i = 0; i < count; ++i)
    ++got[holdings[i].process];
  double sum = 0, squares = 0;
  for (const double one : got) {
    sum += one;
    squares += one * one;
  }
  return squares > 0 ? sum * sum / (static_cast<double>(processes) * squares) : 0;
}

std::vector<Reading> one_key_turn(const Peer& peer, const Settings& settings) {
  open_alone(peer, "onekey", Company::others);
  Shared<Log> log;
  Shared<Holding> holdings(most_holdings);
  StartLine start(settings.processes);
  run_crowd(settings.processes, [&](std::size_t i) {
    const auto client = peer.lease("onekey", worker(i), Company::others);
    start.wait();
    contend(*client, static_cast<std::uint32_t>(i), settings, *log, holdings);
  });
  const std::size_t count = std::min<std::size_t>(log->count, most_holdings);
  const std::vector<double> times = hand_overs(holdings, count);
  const double seconds =
      count == 0
          ? 1
          : static_cast<double>(holdings[count - 1].release_called - holdings[0].acquired) / 1e9;
  return {{"handover p50", "us", percentile(times, 50)},
          {"handover p99", "us", percentile(times, 99)},
          {"pairs", "per s", static_cast<double>(count) / seconds},
          {"fairness", "jain", jain(holdings, count, settings.processes)}};
}

std::vector<Reading> own_keys_turn(const Peer& peer, const Settings& settings) {
  open_alone(peer, "ownkeys", Company::alone);
  Shared<std::uint64_t> pairs(settings.processes);
  Shared<std::int64_t> longest(settings.processes);
  StartLine start(settings.processes);
  run_crowd(settings.processes, [&](std::size_t i) {
    const auto client = peer.lease("ownkeys", worker(i), Company::alone);
    const std::string key = "account-" + std::to_string(i);
    start.wait();
    const std::int64_t begin = now_ns();
    const std::int64_t end = begin + std::chrono::nanoseconds(settings.length).count();
    for (std::int64_t before = begin; before < end; ++pairs[i]) {
      client->acquire(key);
      client->release();
      const std::int64_t after = now_ns();
      longest[i] = std::max(longest[i], after - before);
      before = after;
    }
  });
  double sum = 0, most = 0;
  for (std::size_t i = 0; i < settings.processes; ++i) {
    sum += static_cast<double>(pairs[i]);
    most = std::max(most, static_cast<double>(longest[i]) / 1000);
  }
  return {{"pairs", "per s", sum / std::chrono::duration<double>(settings.length).count()},
          {"longest pair", "us", most}};
}

}  // namespace

std::vector<Row> uncontended_pair(const std::vector<Peer>& peers, const Settings& settings) {
  return take_turns("pair", peers, settings.rounds, stands_alone,
                    [&](const Peer& peer) { return pair_turn(peer, settings); });
}

std::vector<Row> one_key(const std::vector<Peer>& peers, const Settings& settings) {
  return take_turns("one key", peers, settings.rounds, has_leases,
                    [&](const Peer& peer) { return one_key_turn(peer, settings); });
}

std::vector<Row> own_keys(const std::vector<Peer>& peers, const Settings& settings) {
  return take_turns("own keys", peers, settings.rounds, stands_alone,
                    [&](const Peer& peer) { return own_keys_turn(peer, settings); });
}

}  // namespace wallock::bench
