// Question: an operation that is measured in two ways, wallock's and the baseline's.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "recorder.hpp"
#include "wallock/options.hpp"

namespace wallock::bench {

// One of the two ways, on a store of its own that it opens when it is made.
class Side {
 public:
  Side() = default;
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;
  virtual ~Side() = default;

  // Puts into the store what so many operations will need. Not measured.
  virtual void prepare(std::size_t operations) { static_cast<void>(operations); }
  // Does one operation, measuring each of its parts.
  virtual void operate(Recorder& recorder) = 0;
};

// Opens a store in `folder`, which is empty.
using MakeSide =
    std::function<std::unique_ptr<Side>(const std::string& folder, Durability durability)>;

// What is reported under a name: the sum of these parts of each operation.
struct Figure {
  std::string name;
  std::vector<std::size_t> parts;
};

struct Question {
  std::string name;
  std::size_t parts = 1;
  std::vector<Figure> figures;
  // Operations per round and side that are measured in a quick run.
  std::size_t operations = 200;
  MakeSide wallock;
  MakeSide baseline;
};

// Asks every question at every level of durability, as Google Benchmark programs do, and returns
// the exit status. Arguments are Google Benchmark's and these:
//   --dir=FOLDER   where the databases are made and removed again; default: .
//   --rounds=N     rounds of wallock and baseline each; default: 5
//   --scale=N      multiplies the operations per round; default: 1
int run(int argc, char** argv, const std::vector<Question>& questions);

}  // namespace wallock::bench
