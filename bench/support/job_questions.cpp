#include "questions.hpp"
#include "sides.hpp"

namespace wallock::bench {
namespace {

enum Part : std::size_t { acquiring, committing, releasing, parts };

class WallockCycle final : public WallockSide {
 public:
  using WallockSide::WallockSide;

  void operate(Recorder& recorder) override {
    const std::string resource = next_resource();
    const Batch batch = next_batch(1);
    const Lease lease =
        recorder.measure(acquiring, [&] { return must(coordinator().acquire(resource)); });
    recorder.measure(committing, [&] { return must(coordinator().commit(lease, batch)); });
    recorder.measure(releasing, [&] { return must(coordinator().release(lease)); });
  }
};

class BaselineCycle final : public BaselineSide {
 public:
  using BaselineSide::BaselineSide;

  void operate(Recorder& recorder) override {
    const std::string resource = next_resource();
    const std::vector<BaselineAction> batch = next_batch(1);
    const std::int64_t token =
        recorder.measure(acquiring, [&] { return database().acquire(resource, holder()); });
    recorder.measure(committing, [&] { return database().commit(batch); });
    recorder.measure(releasing, [&] { return database().release(resource, token); });
  }
};

class WallockExecute final : public WallockSide {
 public:
  using WallockSide::WallockSide;

  void operate(Recorder& recorder) override {
    const std::string resource = next_resource();
    const Batch batch = next_batch(1);
    recorder.measure(0, [&] { return must(coordinator().execute(resource, batch)); });
  }
};

class BaselineExecute final : public BaselineSide {
 public:
  using BaselineSide::BaselineSide;

  void operate(Recorder& recorder) override {
    const std::string resource = next_resource();
    const std::vector<BaselineAction> batch = next_batch(1);
    recorder.measure(0, [&] { return database().execute(resource, holder(), batch); });
  }
};

}  // namespace

std::vector<Question> job_questions() {
  return {{.name = "cycle",
           .parts = parts,
           .figures = {{"cycle", {acquiring, committing, releasing}}},
           .operations = 300,
           .wallock = side<WallockCycle>(),
           .baseline = side<BaselineCycle>()},
          {.name = "execute",
           .figures = {{"execute", {0}}},
           .operations = 300,
           .wallock = side<WallockExecute>(),
           .baseline = side<BaselineExecute>()}};
}

}  // namespace wallock::bench
