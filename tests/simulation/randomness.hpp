// The randomness of the whole process, as one seed gives it.
#pragma once

#include <cstdint>

namespace wallock::test {

// From now on the library's random bytes (this executable has its own RAND_bytes) and SQLite's are
// those of the seed.
void seed_randomness(std::uint64_t seed);

}  // namespace wallock::test
