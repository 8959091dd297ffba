// Sides: the parts that the questions' two ways share, and how they make what they work on.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "baseline.hpp"
#include "question.hpp"
#include "wallock/coordinator.hpp"

namespace wallock::bench {

inline constexpr std::size_t resources = 64;
inline constexpr std::size_t payload_bytes = 200;

// The resource of the i-th operation: both sides go through the same few in turn.
[[nodiscard]] inline std::string resource_name(std::size_t i) {
  return "account-" + std::to_string(1000 + i % resources);
}

// Ids ascend, which is the cheapest order for a B-tree, the baseline's as well as wallock's.
[[nodiscard]] inline std::string action_id(std::uint64_t number) {
  return "payment-" + std::to_string(1'000'000'000 + number);
}

// The value of a result; ends the program if there is none.
template <class T>
T must(Result<T> result) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "wallock: %s\n", to_string(result.error()).c_str());
  std::exit(EXIT_FAILURE);
}

// wallock's way: a Coordinator on a file of its own.
class WallockSide : public Side {
 public:
  WallockSide(const std::string& folder, Durability durability)
      : coordinator_(must(Coordinator::open(
            folder + "/store.db",
            Options{.durability = durability, .holder = Given<HolderId>("worker-1")}))) {}

 protected:
  [[nodiscard]] Coordinator& coordinator() noexcept { return coordinator_; }
  [[nodiscard]] std::string next_resource() { return resource_name(turn_++); }
  // `count` actions that were never committed before; with a destination, deliveries too.
  [[nodiscard]] Batch next_batch(std::size_t count, const char* destination = nullptr) {
    std::vector<ActionRequest> actions;
    for (std::size_t i = 0; i < count; ++i) {
      ActionFields fields{.id = action_id(action_++), .payload = payload_};
      if (destination != nullptr) fields.destination = destination;
      actions.push_back(must(ActionRequest::create(std::move(fields))));
    }
    return actions;
  }

 private:
  Coordinator coordinator_;
  std::size_t turn_ = 0;
  std::uint64_t action_ = 0;
  std::string payload_ = std::string(payload_bytes, 'p');
};

// The baseline's way: the C API on a file of its own.
class BaselineSide : public Side {
 public:
  BaselineSide(const std::string& folder, Durability durability)
      : database_(folder + "/baseline.db", durability) {}

 protected:
  [[nodiscard]] Baseline& database() noexcept { return database_; }
  [[nodiscard]] const std::string& holder() const noexcept { return holder_; }
  [[nodiscard]] std::string next_resource() { return resource_name(turn_++); }
  [[nodiscard]] std::vector<BaselineAction> next_batch(std::size_t count) {
    std::vector<BaselineAction> actions;
    actions.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
      actions.push_back({action_id(action_++), payload_});
    return actions;
  }

 private:
  Baseline database_;
  std::string holder_ = "worker-1";
  std::size_t turn_ = 0;
  std::uint64_t action_ = 0;
  std::string payload_ = std::string(payload_bytes, 'p');
};

// A MakeSide of that kind of side, with more arguments for its constructor.
template <class Kind, class... More>
[[nodiscard]] MakeSide side(More... more) {
  return [more...](const std::string& folder, Durability durability) -> std::unique_ptr<Side> {
    return std::make_unique<Kind>(folder, durability, more...);
  };
}

}  // namespace wallock::bench
