#include "question.hpp"

#include <benchmark/benchmark.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

#include "machine.hpp"
#include "scratch_folder.hpp"
#include "statistics.hpp"

namespace wallock::bench {
namespace {

struct Settings {
  std::string dir = ".";
  std::size_t rounds = 5;
  std::size_t scale = 1;
};

// The log is restarted every 2000 frames or so. Warm means that it was restarted once, since its
// file is overwritten from then on, which is faster than growing it.
constexpr std::int64_t warm_log_frames = 2400;
constexpr std::int64_t frame_writes = 2;
constexpr std::size_t most_warm_operations = 3000;
constexpr std::size_t trial_operations = 100;
// Measured in turns of this many operations, so that both sides see the same disk and load.
constexpr std::size_t turns = 10;

struct Contender {
  const MakeSide& make;
  std::string_view name;
  std::size_t warm_operations = 0;
  Series<Counts> counts = {};  // of the counting pass
};

void repeat(Side& side, Recorder& recorder, std::size_t operations) {
  for (std::size_t i = 0; i < operations; ++i)
    side.operate(recorder);
}

// Counts what an operation does, and from that how many of them warm a fresh store up.
void count(Contender& contender, const Question& question, Durability durability,
           const Settings& settings) {
  const std::size_t operations = std::max(question.operations, std::size_t{20});
  const ScratchFolder folder(settings.dir, contender.name);
  const Counting counting;
  {
    const auto side = contender.make(folder.str(), durability);
    side->prepare(2 * operations);
    Recorder unused(question.parts, &counting);
    const Counts before = counting.now();
    repeat(*side, unused, std::min(operations, trial_operations));
    const Counts after = counting.now();
    const auto done = static_cast<std::int64_t>(std::min(operations, trial_operations));
    const std::int64_t writes = std::max<std::int64_t>((after - before).writes / done, 1);
    contender.warm_operations =
        std::min(static_cast<std::size_t>(warm_log_frames * frame_writes / writes + 1),
                 most_warm_operations);
    Recorder recorder(question.parts, &counting);
    repeat(*side, recorder, operations);
    contender.counts = recorder.counts();
  }
}

// One side of one round: a fresh store, warmed up, and the times it took so far.
struct Runner {
  Runner(const Contender& contender, const Question& question, Durability durability,
         const Settings& settings, std::size_t operations)
      : folder(settings.dir, contender.name),
        side(contender.make(folder.str(), durability)),
        recorder(question.parts) {
    side->prepare(contender.warm_operations + operations);
    Recorder unused(question.parts);
    repeat(*side, unused, contender.warm_operations);
  }

  ScratchFolder folder;
  std::unique_ptr<Side> side;
  Recorder recorder;
};

// Per operation, the sum of the figure's parts in microseconds.
std::vector<double> microseconds(const Figure& figure, const Series<Time::duration>& times) {
  std::vector<double> sums(times[figure.parts.front()].size());
  for (const std::size_t part : figure.parts)
    for (std::size_t i = 0; i < sums.size(); ++i)
      sums[i] += std::chrono::duration<double, std::micro>(times[part][i]).count();
  return sums;
}

// A statistic of each round, for both sides.
struct Rounds {
  std::vector<double> wallock, baseline, ratios;

  void add(double ours, double theirs) {
    wallock.push_back(ours);
    baseline.push_back(theirs);
    ratios.push_back(theirs > 0 ? ours / theirs : 0);
  }
};

struct FigureRounds {
  Rounds p50, p99, mean, processor;
};

void add_round(const Question& question, const Recorder& wallock, const Recorder& baseline,
               std::vector<FigureRounds>& figures) {
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const auto ours = microseconds(question.figures[i], wallock.times());
    const auto theirs = microseconds(question.figures[i], baseline.times());
    figures[i].p50.add(percentile(ours, 50), percentile(theirs, 50));
    figures[i].p99.add(percentile(ours, 99), percentile(theirs, 99));
    figures[i].mean.add(mean(ours), mean(theirs));
    figures[i].processor.add(mean(microseconds(question.figures[i], wallock.processor_times())),
                             mean(microseconds(question.figures[i], baseline.processor_times())));
  }
}

double play_round(const Question& question, Durability durability, const Settings& settings,
                  std::size_t number, const std::array<Contender, 2>& contenders,
                  std::vector<FigureRounds>& figures) {
  const std::size_t operations = question.operations * settings.scale;
  Runner wallock(contenders[0], question, durability, settings, operations);
  Runner baseline(contenders[1], question, durability, settings, operations);
  for (std::size_t done = 0, turn = 0; done < operations; ++turn) {
    const std::size_t next = std::min(operations - done, operations / turns + 1);
    const bool wallock_first = (turn + number) % 2 == 0;
    Runner& first = wallock_first ? wallock : baseline;
    Runner& second = wallock_first ? baseline : wallock;
    repeat(*first.side, first.recorder, next);
    repeat(*second.side, second.recorder, next);
    done += next;
  }
  add_round(question, wallock.recorder, baseline.recorder, figures);
  return mean(microseconds(question.figures.back(), wallock.recorder.times()));
}

void report_times(benchmark::State& state, const std::string& name, const Rounds& rounds) {
  state.counters[name] = median(rounds.wallock);
  state.counters[name + "/baseline"] = median(rounds.baseline);
  state.counters[name + "/ratio"] = median(rounds.ratios);
  state.counters[name + "/ratio_min"] = percentile(rounds.ratios, 0);
  state.counters[name + "/ratio_max"] = percentile(rounds.ratios, 100);
}

struct CountName {
  const char* name;
  std::int64_t Counts::* member;
};
constexpr std::array count_names{CountName{"statements", &Counts::statements},
                                 CountName{"triggers", &Counts::triggers},
                                 CountName{"flushes", &Counts::flushes},
                                 CountName{"checkpoint_flushes", &Counts::checkpoint_flushes},
                                 CountName{"writes", &Counts::writes},
                                 CountName{"bytes", &Counts::bytes},
                                 CountName{"checkpoint_writes", &Counts::checkpoint_writes},
                                 CountName{"checkpoint_bytes", &Counts::checkpoint_bytes}};

void report_counts(benchmark::State& state, const Figure& figure, const Series<Counts>& counts,
                   const std::string& suffix) {
  std::vector<Counts> sums(counts[figure.parts.front()].size());
  for (const std::size_t part : figure.parts)
    for (std::size_t i = 0; i < sums.size(); ++i)
      sums[i] = sums[i] + counts[part][i];
  for (const CountName& count : count_names) {
    std::vector<double> values;
    for (const Counts& sum : sums)
      values.push_back(static_cast<double>(sum.*count.member));
    const std::string name = figure.name + "/" + count.name;
    state.counters[name + suffix] = mean(values);
    state.counters[name + suffix + "/min"] = percentile(values, 0);
    state.counters[name + suffix + "/max"] = percentile(values, 100);
  }
}

void ask(benchmark::State& state, const Question& question, Durability durability,
         const Settings& settings) {
  std::array<Contender, 2> contenders{Contender{question.wallock, "wallock"},
                                      Contender{question.baseline, "baseline"}};
  for (Contender& contender : contenders)
    count(contender, question, durability, settings);

  std::vector<FigureRounds> figures(question.figures.size());
  std::size_t number = 0;
  for (auto _ : state) {
    const double us = play_round(question, durability, settings, number++, contenders, figures);
    state.SetIterationTime(us / 1e6);
  }
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const Figure& figure = question.figures[i];
    report_times(state, figure.name + "/p50", figures[i].p50);
    report_times(state, figure.name + "/p99", figures[i].p99);
    report_times(state, figure.name + "/mean", figures[i].mean);
    report_times(state, figure.name + "/cpu", figures[i].processor);
    report_counts(state, figure, contenders[0].counts, "");
    report_counts(state, figure, contenders[1].counts, "/baseline");
  }
}

std::size_t number_of(std::string_view text) {
  std::size_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  if (number == 0) {
    std::fprintf(stderr, "not a positive number: %.*s\n", static_cast<int>(text.size()),
                 text.data());
    std::exit(EXIT_FAILURE);
  }
  return number;
}

// Takes our arguments out of argv, since Google Benchmark refuses what it does not know.
Settings take_settings(int& argc, char** argv) {
  Settings settings;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--dir=")) {
      settings.dir = argument.substr(6);
    } else if (argument.starts_with("--rounds=")) {
      settings.rounds = number_of(argument.substr(9));
    } else if (argument.starts_with("--scale=")) {
      settings.scale = number_of(argument.substr(8));
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  return settings;
}

}  // namespace

int run(int argc, char** argv, const std::vector<Question>& questions) {
  const Settings settings = take_settings(argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return EXIT_FAILURE;
  std::filesystem::create_directories(settings.dir);
  for (const auto& [key, value] : describe_machine(settings.dir))
    benchmark::AddCustomContext(key, value);
  benchmark::AddCustomContext("rounds", std::to_string(settings.rounds));
  for (const Question& question : questions) {
    for (const Durability level :
         {Durability::every_answer, Durability::commits, Durability::relaxed}) {
      const std::string name = question.name + "/" + std::string(to_string(level));
      benchmark::RegisterBenchmark(name.c_str(),
                                   [&question, level, &settings](benchmark::State& state) {
                                     ask(state, question, level, settings);
                                   })
          ->Iterations(static_cast<benchmark::IterationCount>(settings.rounds))
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond);
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return EXIT_SUCCESS;
}

}  // namespace wallock::bench
