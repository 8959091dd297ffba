// The library's version: macros for the preprocessor, constants for the program.
// The build system reads the three numbers from here; they are stated nowhere else.
#pragma once

#include <string_view>

#include "wallock/export.hpp"

#define WALLOCK_VERSION_MAJOR 0
#define WALLOCK_VERSION_MINOR 1
#define WALLOCK_VERSION_PATCH 0

// Helpers: the numbers above as text.
#define WALLOCK_DETAIL_TEXT(x) #x
#define WALLOCK_DETAIL_DOTTED(a, b, c) \
  WALLOCK_DETAIL_TEXT(a) "." WALLOCK_DETAIL_TEXT(b) "." WALLOCK_DETAIL_TEXT(c)

// The version of the headers as a string literal, for example "0.1.0".
#define WALLOCK_VERSION_STRING \
  WALLOCK_DETAIL_DOTTED(WALLOCK_VERSION_MAJOR, WALLOCK_VERSION_MINOR, WALLOCK_VERSION_PATCH)

namespace wallock {

// The version of the headers that this translation unit was compiled with.
inline constexpr std::string_view version = WALLOCK_VERSION_STRING;

// The version of the compiled library that the program runs with. It differs from `version` when a
// program built with one release's headers runs against another release's shared library.
// Never fails; safe from any thread; the text lives as long as the program.
[[nodiscard]] WALLOCK_EXPORT std::string_view library_version() noexcept;

}  // namespace wallock
