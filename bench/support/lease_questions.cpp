#include "questions.hpp"
#include "sides.hpp"

namespace wallock::bench {
namespace {

enum Part : std::size_t { acquiring, releasing, parts };

class WallockLease final : public WallockSide {
 public:
  using WallockSide::WallockSide;

  void operate(Recorder& recorder) override {
    const std::string resource = next_resource();
    const Lease lease =
        recorder.measure(acquiring, [&] { return must(coordinator().acquire(resource)); });
    recorder.measure(releasing, [&] { return must(coordinator().release(lease)); });
  }
};

class BaselineLease final : public BaselineSide {
 public:
  using BaselineSide::BaselineSide;

  void operate(Recorder& recorder) override {
    const std::string resource = next_resource();
    const std::int64_t token =
        recorder.measure(acquiring, [&] { return database().acquire(resource, holder()); });
    recorder.measure(releasing, [&] { return database().release(resource, token); });
  }
};

}  // namespace

std::vector<Question> lease_questions() {
  return {{.name = "lease",
           .parts = parts,
           .figures = {{"acquire", {acquiring}},
                       {"release", {releasing}},
                       {"acquire_release", {acquiring, releasing}}},
           .operations = 500,
           .wallock = side<WallockLease>(),
           .baseline = side<BaselineLease>()}};
}

}  // namespace wallock::bench
