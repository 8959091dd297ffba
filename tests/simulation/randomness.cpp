#include "randomness.hpp"

#include <openssl/rand.h>
#include <sqlite3.h>

#include <algorithm>

#include "disk.hpp"

namespace {

wallock::test::Random& source() {
  static wallock::test::Random random(0);
  return random;
}

}  // namespace

// In place of OpenSSL's own, for whatever is linked into this executable.
int RAND_bytes(unsigned char* bytes, int count) {
  std::generate_n(bytes, count, [] { return static_cast<unsigned char>(source().next()); });
  return 1;
}

namespace wallock::test {

// SQLite asks its file system for a new beginning when it is next in need.
void seed_randomness(std::uint64_t seed) {
  source() = Random(seed);
  sqlite3_randomness(0, nullptr);
}

}  // namespace wallock::test
