// The one place that includes Catch2: version 2 (Debian 12) and version 3 have other header names.
// To serve both, the tests avoid SKIP, ContainsSubstring, Catch::Approx and BENCHMARK.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
