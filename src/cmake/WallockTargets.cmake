# What wallock's own targets share. All of it is private: a user of the library inherits nothing.

# wallock_warnings: what the compiler must say about our code.
add_library(wallock_warnings INTERFACE)
target_compile_options(wallock_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow
  # GCC 12 is wrong about three things once it has inlined the standard library: members of an empty
  # std::optional (GCC bug 80635) and the ends of short strings (105329, 105651). Clang and the
  # sanitizers watch over the real ones.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-array-bounds;-Wno-restrict>
  $<$<BOOL:${WALLOCK_WERROR}>:-Werror>)

# wallock_own_target(<target>): applies the warnings, and forbids compiler extensions.
function(wallock_own_target target)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:wallock_warnings>)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
endfunction()
