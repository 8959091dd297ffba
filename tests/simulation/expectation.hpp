// Expectation: what a store may hold by now, as one with a perfect memory knows it that was told of
// every call, every answer, every death and every power cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "repository/store_model.hpp"

namespace wallock::test {

// A state of the store.
struct StoreState {
  StoreModel model;
  std::string rows;        // the model's, for comparing
  std::uint64_t boot = 0;  // that its epoch belongs to
  bool exists = true;      // false: nothing is there yet
  bool must_last = false;  // what led to it is flushed before anybody is answered from it
};

// States come one after the other. Of a call that was not answered (its caller died, or its outcome
// is unknown) it is open whether it happened: it is a possibility until the store tells.
//
// What was answered as durable stays; what came after it a power cut may take back, from the end.
class Expectation {
 public:
  explicit Expectation(StoreState first);

  // The state that everybody sees now.
  [[nodiscard]] const StoreState& now() const { return past_.back(); }

  // The call happened and was answered. Until is_durable() nothing holds it in a power cut.
  void happened(StoreState next);
  // It may have happened, or may happen yet: the next seen() tells.
  void may_have_happened(StoreState next);
  // Somebody was answered from what is there now, and everything in it that must last, lasts.
  void answered_from_now();
  // What is there now was answered as lasting.
  void lasts();

  // The process that was this instance died.
  void died(int instance);
  // The machine lost its power.
  void power_cut();
  // The boot clock started anew: who opens the store raises its epoch first.
  void opened(std::uint64_t boot, Nanos moment);
  // The same, by somebody who did not come to its end.
  void may_have_opened(std::uint64_t boot, Nanos moment);

  // What the store holds was looked at. False if it cannot be that.
  [[nodiscard]] bool seen(const std::string& rows);
  // Whether the last one that was open turned out to have happened.
  [[nodiscard]] std::optional<bool> take_outcome();

  // What may be there, in words, for a report.
  [[nodiscard]] std::string describe() const;

 private:
  // One that may be there, and which of the past it grew from.
  struct Possible {
    std::size_t base;
    StoreState state;
  };

  [[nodiscard]] static StoreState after_opening(const StoreState& state, std::uint64_t boot,
                                                Nanos moment);
  void keep_from(std::size_t floor);

  std::vector<StoreState> past_;  // from the last one that lasts on
  std::vector<Possible> open_;    // oldest first
  bool is_cut_ = false;           // any of the past may be now
  std::optional<bool> outcome_;
};

}  // namespace wallock::test
