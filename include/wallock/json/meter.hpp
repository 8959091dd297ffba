// JsonMeter: stops the reading of a JSON document whose time budget is spent.
#pragma once

#include <chrono>
#include <cstddef>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include "wallock/json/limits.hpp"
#include "wallock/time.hpp"

namespace wallock::detail {

// Measures one validation from its construction on.
class JsonMeter {
 public:
  explicit JsonMeter(const JsonLimits& limits)
      : clock_(limits.clock), budget_(limits.budget), start_(now()) {}

  // True once more than the budget has passed; stays true.
  [[nodiscard]] bool is_spent() {
    spent_ = spent_ || saturating_sub(now(), start_) > budget_;
    return spent_;
  }

 private:
  [[nodiscard]] Instant now() const {
    if (clock_) return clock_->now();
    return Instant(std::chrono::steady_clock::now().time_since_epoch());
  }

  std::shared_ptr<const Clock> clock_;
  Duration budget_;
  Instant start_;
  bool spent_ = false;
};

// Walks a document and looks at the meter for every KiB. When the budget is spent the document
// seems to end there, which is how the parser is made to stop.
class MeteredIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  MeteredIterator() = default;

  [[nodiscard]] static std::pair<MeteredIterator, MeteredIterator> range(std::string_view document,
                                                                         JsonMeter& meter) {
    const char* const end = document.data() + document.size();
    return {MeteredIterator(document.data(), end, meter), MeteredIterator(end, end, meter)};
  }

  reference operator*() const { return *at_; }
  MeteredIterator& operator++() {
    if (++at_ == pause_) look();
    return *this;
  }
  MeteredIterator operator++(int) {
    MeteredIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const MeteredIterator& a, const MeteredIterator& b) {
    return a.at_ == b.at_;
  }

 private:
  MeteredIterator(const char* at, const char* end, JsonMeter& meter)
      : at_(at), pause_(next_pause(at, end)), end_(end), meter_(&meter) {}

  // None in the last KiB: the end is looked at by whoever asked for the reading.
  static const char* next_pause(const char* at, const char* end) {
    return end - at > 1024 ? at + 1024 : nullptr;
  }

  void look() {
    if (meter_->is_spent()) at_ = end_;
    pause_ = next_pause(at_, end_);
  }

  const char* at_ = nullptr;
  const char* pause_ = nullptr;
  const char* end_ = nullptr;
  JsonMeter* meter_ = nullptr;
};

}  // namespace wallock::detail
