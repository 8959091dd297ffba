// A breaker as one with a perfect memory would keep it: part of the store's model.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace wallock::test {

using Nanos = std::int64_t;  // since boot

class ModelBreaker {
 public:
  static constexpr Nanos second = 1'000'000'000;
  static constexpr unsigned trip_after = 3;
  static constexpr Nanos first_interval = 10 * second;
  static constexpr Nanos max_interval = 60 * second;

  enum class State { closed, open, probing };
  State state = State::closed;
  bool forced = false;
  unsigned timeouts = 0;
  unsigned failed = 0;

  [[nodiscard]] bool closed() const { return state == State::closed; }
  [[nodiscard]] bool probed(Nanos now, std::uint64_t epoch) const {
    return state == State::probing && since_epoch_ == epoch && now < probe_ends_;
  }
  [[nodiscard]] Nanos due(std::uint64_t epoch) const {
    return (since_epoch_ == epoch ? since_ : 0) + interval_;
  }

  void open(Nanos now, std::uint64_t epoch) {
    state = State::open;
    failed = 0;
    interval_ = first_interval;
    since_ = now;
    since_epoch_ = epoch;
  }
  void probe(Nanos until, std::uint64_t epoch) {
    state = State::probing;
    probe_ends_ = until;
    since_epoch_ = epoch;
  }
  void cut_probe_short(Nanos now) { probe_ends_ = std::min(probe_ends_, now); }
  void cut_off(Nanos now, std::uint64_t epoch) {
    state = State::open;
    since_ = now;
    since_epoch_ = epoch;
  }
  void recover() {
    state = State::closed;
    timeouts = failed = 0;
  }
  void fall_back(Nanos from, std::uint64_t epoch) {
    cut_off(from, epoch);
    ++failed;
    interval_ = first_interval;
    for (unsigned i = 0; i < failed && interval_ < max_interval; ++i)
      interval_ *= 2;
    interval_ = std::min(interval_, max_interval);
  }
  // True if there was a probe whose time is over: it has fallen back.
  bool settle(Nanos now, std::uint64_t epoch) {
    if (state != State::probing || probed(now, epoch)) return false;
    fall_back(since_epoch_ == epoch ? probe_ends_ : 0, epoch);
    return true;
  }
  // What its row says: state, timeouts, failed probes, force.
  [[nodiscard]] std::string row() const {
    return std::to_string(static_cast<int>(state)) + " " + std::to_string(timeouts) + " " +
           std::to_string(failed) + (forced ? " 1" : " 0");
  }

 private:
  Nanos interval_ = 0;
  Nanos since_ = 0;
  std::uint64_t since_epoch_ = 0;
  Nanos probe_ends_ = 0;
};

}  // namespace wallock::test
