// What verifying takes of memory: no more for a large ledger than for a small one.
#include <sys/resource.h>

#include "fork.hpp"
#include "repository_support.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WALLOCK_MEMORY_IS_ITS_OWN 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WALLOCK_MEMORY_IS_ITS_OWN 0
#endif
#endif
#if !defined(WALLOCK_MEMORY_IS_ITS_OWN)
#define WALLOCK_MEMORY_IS_ITS_OWN 1  // a sanitizer keeps what was freed
#endif

namespace wallock::test {
namespace {

// The most memory that this process ever had, in KiB.
long most_memory() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : -1;
}

}  // namespace

// Case G17. The ledger here has 75 MiB of payloads; SQLite keeps 8 MiB of pages of each connection.
TEST_CASE("verifying a ledger takes memory for a part of it at a time") {
  if (WALLOCK_MEMORY_IS_ITS_OWN == 0) return;
  TempStore at;
  constexpr std::size_t each = 256 * 1024;
  constexpr int commits = 300;
  {
    auto store = at.open();
    for (int i = 0; i < commits; ++i) {
      REQUIRE(answer(store.execute(
                  "r", recorded("a" + std::to_string(i),
                                std::string(each, static_cast<char>('a' + i % 26))))) == "ok");
    }
  }
  Fork child([&] {
    auto store = at.open();
    const long before = most_memory();
    if (verdict(store) != "UNANCHORED") return 1;
    constexpr long most = 32 * 1024;
    return most_memory() - before < most ? 0 : 2;
  });
  CHECK(child.wait() == 0);
}

}  // namespace wallock::test
