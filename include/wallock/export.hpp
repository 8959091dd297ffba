// WALLOCK_EXPORT marks what a shared library build makes visible; everything else stays inside.
#pragma once

#if defined(__GNUC__) || defined(__clang__)
#define WALLOCK_EXPORT __attribute__((visibility("default")))
#else
#define WALLOCK_EXPORT
#endif
