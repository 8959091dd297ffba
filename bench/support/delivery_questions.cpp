#include <algorithm>

#include "questions.hpp"
#include "sides.hpp"

namespace wallock::bench {
namespace {

enum Part : std::size_t { claiming, settling, parts };

constexpr const char* destination = "webhooks";
// So many actions of one resource are committed at once where they stand in line.
constexpr std::size_t line = 100;
// So many deliveries are due that wait for the breakers of their resources.
constexpr std::size_t held_back = 3300;

class WallockDelivery final : public WallockSide {
 public:
  // `per_commit` actions share a resource: 1 for deliveries that wait for nobody. `held` more are
  // due first, each behind an open breaker of its own.
  WallockDelivery(const std::string& folder, Durability durability, std::size_t per_commit,
                  std::size_t held)
      : WallockSide(folder, durability), per_commit_(per_commit) {
    for (std::size_t i = 0; i < held; ++i) {
      const std::string resource = "held-" + std::to_string(1'000'000 + i);
      must(coordinator().execute(resource, next_batch(1, destination)));
      if (!coordinator().force_open(resource, "held back")) std::exit(EXIT_FAILURE);
    }
  }

  void prepare(std::size_t operations) override {
    for (std::size_t ready = 0; ready < operations; ready += per_commit_) {
      const std::string resource = "queue-" + std::to_string(1'000'000 + resource_++);
      must(coordinator().execute(resource, next_batch(per_commit_, destination)));
    }
  }

  void operate(Recorder& recorder) override {
    const auto deliveries = recorder.measure(
        claiming, [&] { return must(coordinator().claim({.destination = destination})); });
    recorder.measure(settling, [&] {
      return must(coordinator().settle(deliveries.at(0), DeliveryOutcome::delivered()));
    });
  }

 private:
  std::size_t per_commit_;
  std::uint64_t resource_ = 0;
};

class BaselineDelivery final : public BaselineSide {
 public:
  using BaselineSide::BaselineSide;

  void prepare(std::size_t operations) override {
    for (std::size_t ready = 0; ready < operations; ready += line)
      database().enqueue(next_batch(line));
  }

  void operate(Recorder& recorder) override {
    const std::int64_t position =
        recorder.measure(claiming, [&] { return database().claim(holder()); });
    recorder.measure(settling, [&] { return database().settle(position); });
  }
};

Question delivery_question(const std::string& name, std::size_t per_commit, std::size_t held = 0) {
  return {.name = name,
          .parts = parts,
          .figures = {{name + "_claim", {claiming}},
                      {name + "_settle", {settling}},
                      {name, {claiming, settling}}},
          .operations = 300,
          .wallock = side<WallockDelivery>(per_commit, held),
          .baseline = side<BaselineDelivery>()};
}

}  // namespace

std::vector<Question> delivery_questions() {
  return {delivery_question("delivery", 1), delivery_question("delivery_in_line", line),
          delivery_question("delivery_behind_open", 1, held_back)};
}

}  // namespace wallock::bench
