// Recorder: takes the time, or the counts, of each part of an operation.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "counts.hpp"

namespace wallock::bench {

using Time = std::chrono::steady_clock;

// One figure per part and operation: how long it took, or what it made SQLite do.
template <class T>
using Series = std::vector<std::vector<T>>;

// Handed to every operation that is run. With a Counting it counts, without one it takes times, so
// that what is timed pays for no counting.
class Recorder {
 public:
  explicit Recorder(std::size_t parts, const Counting* counting = nullptr)
      : counting_(counting), times_(parts), counts_(parts) {}

  // Runs `work` as part number `part` of the operation, and returns what it returns.
  template <class Work>
  auto measure(std::size_t part, const Work& work) {
    const Reading reading(*this, part);
    return work();
  }

  [[nodiscard]] const Series<Time::duration>& times() const noexcept { return times_; }
  [[nodiscard]] const Series<Counts>& counts() const noexcept { return counts_; }

 private:
  // Reads clock or counts when it is made, and again when it goes.
  class Reading {
   public:
    Reading(Recorder& recorder, std::size_t part) : recorder_(recorder), part_(part) {
      if (recorder.counting_ != nullptr) counts_ = recorder.counting_->now();
      time_ = Time::now();
    }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;
    ~Reading() {
      const auto time = Time::now() - time_;
      if (recorder_.counting_ == nullptr) {
        recorder_.times_[part_].push_back(time);
      } else {
        recorder_.counts_[part_].push_back(recorder_.counting_->now() - counts_);
      }
    }

   private:
    Recorder& recorder_;
    std::size_t part_;
    Counts counts_;
    Time::time_point time_;
  };

  const Counting* counting_;
  Series<Time::duration> times_;
  Series<Counts> counts_;
};

}  // namespace wallock::bench
