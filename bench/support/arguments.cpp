#include "arguments.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>

namespace wallock::bench {

Arguments::Arguments(int argc, char** argv, std::string usage) : usage_(std::move(usage)) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    if (!name.starts_with("--") || usage_.find(name) == std::string::npos) give_up();
    if (equals != std::string::npos) {
      values_[name.substr(2)] = argument.substr(equals + 1);
    } else if (i + 1 < argc) {
      values_[name.substr(2)] = argv[++i];
    } else {
      give_up();
    }
  }
}

void Arguments::give_up() const {
  std::fprintf(stderr, "%s\n", usage_.c_str());
  std::exit(EXIT_FAILURE);
}

std::size_t Arguments::number_of(const std::string& text) const {
  std::size_t number = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ptr != end || number == 0) give_up();
  return number;
}

std::string Arguments::text(const std::string& name, const std::string& otherwise) const {
  const auto found = values_.find(name);
  return found == values_.end() ? otherwise : found->second;
}

std::size_t Arguments::number(const std::string& name, std::size_t otherwise) const {
  const auto found = values_.find(name);
  return found == values_.end() ? otherwise : number_of(found->second);
}

std::vector<std::size_t> Arguments::numbers(const std::string& name,
                                            const std::vector<std::size_t>& otherwise) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return otherwise;
  std::vector<std::size_t> all;
  std::istringstream words(found->second);
  for (std::string word; std::getline(words, word, ',');)
    all.push_back(number_of(word));
  return all;
}

}  // namespace wallock::bench
