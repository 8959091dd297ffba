#include "cases.hpp"
#include "support/crowd.hpp"
#include "support/statistics.hpp"
#include "turns.hpp"

namespace wallock::bench {
namespace {

constexpr std::size_t most_times = 1'000'000;

bool has_outbox(const Peer& peer) { return static_cast<bool>(peer.outbox); }

std::vector<Reading> readings_of(const std::vector<double>& times, std::size_t messages) {
  const double us = mean(times);
  return {{"p50", "us", percentile(times, 50)},
          {"p99", "us", percentile(times, 99)},
          {"messages", "per s", us > 0 ? 1e6 * static_cast<double>(messages) / us : 0}};
}

std::vector<Reading> enqueue_turn(const Peer& peer, const Settings& settings,
                                  std::size_t messages) {
  SharedTimes times(most_times);
  run_crowd(1, [&](std::size_t) {
    const auto client = peer.outbox("enqueue" + std::to_string(messages));
    client->enqueue(messages);
    const std::int64_t end = now_ns() + std::chrono::nanoseconds(settings.length).count();
    for (std::int64_t before = now_ns(); before < end;) {
      client->enqueue(messages);
      const std::int64_t after = now_ns();
      times.add(after - before);
      before = after;
    }
  });
  return readings_of(times.microseconds(), messages);
}

std::vector<Reading> claim_turn(const Peer& peer, const Settings& settings, std::size_t messages) {
  SharedTimes times(most_times);
  const std::size_t turns = messages == 1 ? settings.singles : settings.batches;
  run_crowd(1, [&](std::size_t) {
    const auto client = peer.outbox("claim" + std::to_string(messages));
    client->fill((turns + 1) * messages);
    client->claim(messages);
    client->acknowledge();
    for (std::size_t i = 0; i < turns; ++i) {
      const std::int64_t before = now_ns();
      client->claim(messages);
      client->acknowledge();
      times.add(now_ns() - before);
    }
  });
  return readings_of(times.microseconds(), messages);
}

}  // namespace

std::vector<Row> enqueue(const std::vector<Peer>& peers, const Settings& settings,
                         std::size_t messages) {
  return take_turns("enqueue " + std::to_string(messages), peers, settings.rounds, has_outbox,
                    [&](const Peer& peer) { return enqueue_turn(peer, settings, messages); });
}

std::vector<Row> claim_and_acknowledge(const std::vector<Peer>& peers, const Settings& settings,
                                       std::size_t messages) {
  return take_turns("claim " + std::to_string(messages), peers, settings.rounds, has_outbox,
                    [&](const Peer& peer) { return claim_turn(peer, settings, messages); });
}

}  // namespace wallock::bench
