// How inputs of the database target are changed: by libFuzzer or by the plain driver as any others,
// or by new rows that are damaged, which changes that know nothing of the format rarely hit upon.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

#include "fuzz/row_damage.hpp"
#include "fuzz/target.hpp"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  constexpr std::size_t head = 2;  // how the store is opened, how many rows are damaged
  std::mt19937_64 engine(seed);
  if (size < head || engine() % 4 == 0) return LLVMFuzzerMutate(data, size, most);
  std::string input(reinterpret_cast<const char*>(data), 1);
  const std::size_t rows = engine() % 3 + 1;
  input += static_cast<char>(rows);
  for (std::size_t i = 0; i < rows; ++i)
    input += wallock::fuzz::random_row_damage(engine);
  // Sometimes with what the input did besides.
  if (engine() % 4 == 0) input.append(reinterpret_cast<const char*>(data) + head, size - head);
  const std::size_t length = std::min(input.size(), most);
  std::copy_n(input.begin(), length, reinterpret_cast<char*>(data));
  return length;
}
