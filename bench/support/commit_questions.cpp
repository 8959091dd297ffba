#include <algorithm>

#include "questions.hpp"
#include "sides.hpp"

namespace wallock::bench {
namespace {

class WallockCommit final : public WallockSide {
 public:
  WallockCommit(const std::string& folder, Durability durability, std::size_t actions)
      : WallockSide(folder, durability), actions_(actions) {}

  void operate(Recorder& recorder) override {
    const Batch batch = next_batch(actions_);
    const Lease lease = must(coordinator().acquire(next_resource()));
    recorder.measure(0, [&] { return must(coordinator().commit(lease, batch)); });
    must(coordinator().release(lease));
  }

 private:
  std::size_t actions_;
};

class BaselineCommit final : public BaselineSide {
 public:
  BaselineCommit(const std::string& folder, Durability durability, std::size_t actions)
      : BaselineSide(folder, durability), actions_(actions) {}

  void operate(Recorder& recorder) override {
    const std::vector<BaselineAction> batch = next_batch(actions_);
    recorder.measure(0, [&] { return database().commit(batch); });
  }

 private:
  std::size_t actions_;
};

}  // namespace

std::vector<Question> commit_questions() {
  std::vector<Question> questions;
  for (const std::size_t actions : {1, 10, 100, 1000}) {
    const std::string name = "commit_" + std::to_string(actions);
    questions.push_back({.name = name,
                         .figures = {{name, {0}}},
                         .operations = std::clamp<std::size_t>(5000 / actions, 10, 300),
                         .wallock = side<WallockCommit>(actions),
                         .baseline = side<BaselineCommit>(actions)});
  }
  return questions;
}

}  // namespace wallock::bench
