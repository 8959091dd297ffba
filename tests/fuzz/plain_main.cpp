// The driver for builds without libFuzzer: replays a kept corpus, then mutated inputs from a seed.
//
//   fuzz_<target> CORPUS [--cases N] [--seconds N] [--seed N]   both limits hold; 0 cases: replay
//   fuzz_<target> CORPUS --seed N --case N                      one mutated input once more
//   fuzz_<target> CORPUS --file PATH                            one input, as libFuzzer kept it
//   fuzz_<target> CORPUS --unpack FOLDER | --pack FOLDER        the corpus to files, and back
//   ... --expect-finding                                        fails if nothing is found
//
// A corpus is a text file: one input a line in hex, comments after '#'.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <unistd.h>

#include "fuzz/mutator.hpp"
#include "fuzz/target.hpp"
#include "wallock/clock.hpp"
#include "wallock/hex.hpp"

namespace wallock::fuzz {
namespace {

constexpr unsigned most_seconds_for_one = 60;  // more is a hang

struct Arguments {
  std::string corpus;
  std::map<std::string, std::string> named;
  bool expect_finding = false;

  [[nodiscard]] std::uint64_t number(const std::string& name, std::uint64_t otherwise) const {
    const auto at = named.find(name);
    return at == named.end() ? otherwise : std::stoull(at->second);
  }
};

// What is being run, for the report of a finding, a crash or a hang.
struct Now {
  std::string what;
  std::string input;
  bool expect_finding = false;
};
Now& now() {
  static Now value;
  return value;
}

void say(std::string_view words) {
  static_cast<void>(!write(STDERR_FILENO, words.data(), words.size()));
}

// Ends the process; also from a signal handler, so it only writes.
[[noreturn]] void end_with(std::string_view what) {
  say("fuzz: ");
  say(what);
  say("\nin: ");
  say(now().what);
  say("\ninput: ");
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(now().input.data());
  for (std::size_t i = 0; i < now().input.size(); ++i) {
    const char digits[] = {"0123456789abcdef"[bytes[i] >> 4], "0123456789abcdef"[bytes[i] & 15]};
    say({digits, 2});
  }
  say("\n");
  _exit(now().expect_finding ? 0 : 1);
}

void on_signal(int signal) {
  end_with(signal == SIGALRM ? "a hang: one input takes longer than a minute" : "a crash");
}

void run(std::string what, std::string input) {
  now().what = std::move(what);
  now().input = std::move(input);
  alarm(most_seconds_for_one);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(now().input.data()),
                         now().input.size());
  alarm(0);
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::string> read_corpus(const std::string& path) {
  std::vector<std::string> inputs;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::uint8_t> bytes(line.size() / 2);
    if (!decode_hex(line, bytes)) {
      std::cerr << path << ": no hex: " << line << '\n';
      std::exit(2);
    }
    inputs.emplace_back(bytes.begin(), bytes.end());
  }
  if (inputs.empty()) {
    std::cerr << path << ": no inputs\n";
    std::exit(2);
  }
  return inputs;
}

void unpack(const std::vector<std::string>& inputs, const std::filesystem::path& folder) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    std::ofstream(folder / ("kept-" + std::to_string(i)), std::ios::binary) << inputs[i];
}

void pack(const std::filesystem::path& folder) {
  std::map<std::size_t, std::map<std::string, int>> by_size;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string bytes = read_file(entry.path());
    if (!bytes.empty()) by_size[bytes.size()][bytes] = 1;
  }
  for (const auto& [size, inputs] : by_size)
    for (const auto& [bytes, ignored] : inputs)
      std::cout << encode_hex({reinterpret_cast<const std::uint8_t*>(bytes.data()), size}) << '\n';
}

// What LLVMFuzzerMutate changes inputs with.
struct Changes {
  Mutator& mutator;
  const std::vector<std::string>& corpus;
};
const Changes*& changes() {
  static const Changes* current = nullptr;
  return current;
}

// One of the corpus, changed as the target wants it.
std::string mutated(const std::vector<std::string>& corpus, std::uint64_t seed,
                    std::uint64_t number) {
  constexpr std::size_t most = 4096;
  Mutator mutator(seed * 1'000'003 + number);
  std::string input = corpus[mutator.below(corpus.size())];
  if (LLVMFuzzerCustomMutator == nullptr) {
    mutator.change_some(input, corpus);
    return input;
  }
  const Changes current{.mutator = mutator, .corpus = corpus};
  changes() = &current;
  const std::size_t size = std::min(input.size(), most);
  input.resize(most);
  input.resize(LLVMFuzzerCustomMutator(reinterpret_cast<std::uint8_t*>(input.data()), size, most,
                                       static_cast<unsigned>(mutator.below(1U << 31))));
  return input;
}

void replay_and_mutate(const Arguments& arguments) {
  const auto corpus = read_corpus(arguments.corpus);
  for (std::size_t i = 0; i < corpus.size(); ++i)
    run("input " + std::to_string(i) + " of the corpus", corpus[i]);
  const std::uint64_t seed = arguments.number("--seed", 1);
  const std::uint64_t cases = arguments.number("--cases", 0);
  const auto clock = system_clock();
  const Instant end =
      saturating_add(clock->now(), std::chrono::seconds(arguments.number("--seconds", 1'000'000)));
  std::uint64_t done = 0;
  for (; done < cases && clock->now() < end; ++done)
    run("seed " + std::to_string(seed) + ", case " + std::to_string(done),
        mutated(corpus, seed, done));
  std::cout << "fuzz: " << corpus.size() << " inputs of the corpus and " << done
            << " mutated ones, seed " << seed << ": nothing found\n";
}

int main_with(const Arguments& arguments) {
  now().expect_finding = arguments.expect_finding;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM})
    std::signal(signal, &on_signal);
  const auto& named = arguments.named;
  if (const auto folder = named.find("--pack"); folder != named.end()) {
    pack(folder->second);
  } else if (const auto to = named.find("--unpack"); to != named.end()) {
    unpack(read_corpus(arguments.corpus), to->second);
  } else if (const auto file = named.find("--file"); file != named.end()) {
    run(file->second, read_file(file->second));
  } else if (named.contains("--case")) {
    const std::uint64_t seed = arguments.number("--seed", 1);
    const std::uint64_t number = arguments.number("--case", 0);
    run("seed " + std::to_string(seed) + ", case " + std::to_string(number),
        mutated(read_corpus(arguments.corpus), seed, number));
  } else {
    replay_and_mutate(arguments);
  }
  return arguments.expect_finding ? 1 : 0;
}

}  // namespace

void found(std::string_view what) { end_with(what); }

}  // namespace wallock::fuzz

std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most) {
  const auto& [mutator, corpus] = *wallock::fuzz::changes();
  std::string input(reinterpret_cast<const char*>(data), size);
  mutator.change_some(input, corpus);
  const std::size_t length = std::min(input.size(), most);
  std::copy_n(input.begin(), length, reinterpret_cast<char*>(data));
  return length;
}

int main(int count, char** values) {
  wallock::fuzz::Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string word = values[i];
    if (word == "--expect-finding") {
      arguments.expect_finding = true;
    } else if (word.starts_with("--") && i + 1 < count) {
      arguments.named[word] = values[++i];
    } else {
      arguments.corpus = word;
    }
  }
  return wallock::fuzz::main_with(arguments);
}
