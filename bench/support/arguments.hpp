// Arguments: --name=value, --name value and --flag of the programs that are not Google Benchmark's.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace wallock::bench {

// Ends the program with the usage when an argument is unknown, or not a number where one is asked.
class Arguments {
 public:
  // `usage` is one line per argument; every "--name" in it is known.
  Arguments(int argc, char** argv, std::string usage);

  [[nodiscard]] std::string text(const std::string& name, const std::string& otherwise) const;
  // A whole number of at least 1.
  [[nodiscard]] std::size_t number(const std::string& name, std::size_t otherwise) const;
  // Such numbers with commas between.
  [[nodiscard]] std::vector<std::size_t> numbers(const std::string& name,
                                                 const std::vector<std::size_t>& otherwise) const;

 private:
  [[noreturn]] void give_up() const;
  [[nodiscard]] std::size_t number_of(const std::string& text) const;

  std::string usage_;
  std::map<std::string, std::string> values_;
};

}  // namespace wallock::bench
