// What the library says about the order of works, and that a race would be reported here.
#include "child_process.hpp"
#include "process_support.hpp"
#include "temp_folder.hpp"
#include "thread_sanitizer.hpp"

using namespace wallock::test;

TEST_CASE("the works of one Coordinator run one after the other: they need no lock of their own") {
  const TempFolder folder;
  ChildProcess child(program("unguarded"), {folder / "store.db"});
  CHECK(child.read_lines() == std::vector<std::string>{"100"});
  CHECK(child.wait().value_or(-1) == 0);
}

#if WALLOCK_THREAD_SANITIZER
TEST_CASE("a race of two works on two stores is reported by ThreadSanitizer") {
  constexpr int has_reported = 66;  // ThreadSanitizer's own exit code
  const TempFolder folder;
  ChildProcess child(program("unguarded"), {folder / "one.db", folder / "two.db"});
  CHECK(child.read_lines().size() == 1);
  CHECK(child.wait().value_or(-1) == has_reported);
}
#endif
