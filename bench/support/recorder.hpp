// Recorder: takes the time, or the counts, of each part of an operation.
#pragma once

#include <time.h>

#include <chrono>
#include <cstddef>
#include <vector>

#include "counts.hpp"

namespace wallock::bench {

using Time = std::chrono::steady_clock;

// Processor time of this process, all threads, user and kernel: what load elsewhere does not
// lengthen.
[[nodiscard]] inline Time::duration processor_time() noexcept {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

// One figure per part and operation: how long it took, or what it made SQLite do.
template <class T>
using Series = std::vector<std::vector<T>>;

// Handed to every operation that is run. With a Counting it counts, without one it takes times, so
// that what is timed pays for no counting.
class Recorder {
 public:
  explicit Recorder(std::size_t parts, const Counting* counting = nullptr)
      : counting_(counting), times_(parts), processor_times_(parts), counts_(parts) {}

  // Runs `work` as part number `part` of the operation, and returns what it returns.
  template <class Work>
  auto measure(std::size_t part, const Work& work) {
    const Reading reading(*this, part);
    return work();
  }

  [[nodiscard]] const Series<Time::duration>& times() const noexcept { return times_; }
  [[nodiscard]] const Series<Time::duration>& processor_times() const noexcept {
    return processor_times_;
  }
  [[nodiscard]] const Series<Counts>& counts() const noexcept { return counts_; }

 private:
  // Reads clock or counts when it is made, and again when it goes.
  class Reading {
   public:
    Reading(Recorder& recorder, std::size_t part) : recorder_(recorder), part_(part) {
      if (recorder.counting_ != nullptr) counts_ = recorder.counting_->now();
      processor_time_ = processor_time();
      time_ = Time::now();
    }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;
    ~Reading() {
      const auto time = Time::now() - time_;
      if (recorder_.counting_ == nullptr) {
        recorder_.times_[part_].push_back(time);
        recorder_.processor_times_[part_].push_back(processor_time() - processor_time_);
      } else {
        recorder_.counts_[part_].push_back(recorder_.counting_->now() - counts_);
      }
    }

   private:
    Recorder& recorder_;
    std::size_t part_;
    Counts counts_;
    Time::duration processor_time_{};
    Time::time_point time_;
  };

  const Counting* counting_;
  Series<Time::duration> times_;
  Series<Time::duration> processor_times_;
  Series<Counts> counts_;
};

}  // namespace wallock::bench
