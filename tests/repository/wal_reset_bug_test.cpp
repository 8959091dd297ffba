// Which SQLites have the WAL-reset bug, by the versions at each end.
#include "sqlite/wal_reset_bug.hpp"

#include "catch.hpp"

namespace wallock::sqlite {

TEST_CASE("the WAL-reset bug is known of exactly the versions that have it") {
  for (const int version : {3007000, 3040001, 3044005, 3045000, 3050006, 3051000, 3051002}) {
    CAPTURE(version);
    CHECK(has_wal_reset_bug(version));
  }
  for (const int version : {3006023, 3044006, 3050007, 3051003, 3052000}) {
    CAPTURE(version);
    CHECK_FALSE(has_wal_reset_bug(version));
  }
}

}  // namespace wallock::sqlite
