// Whether this build runs under ThreadSanitizer, in which a fork costs a second.
#pragma once

// For a test that exists in such a build only.
#if defined(__SANITIZE_THREAD__)
#define WALLOCK_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WALLOCK_THREAD_SANITIZER 1
#endif
#endif
#if !defined(WALLOCK_THREAD_SANITIZER)
#define WALLOCK_THREAD_SANITIZER 0
#endif

namespace wallock::test {

inline constexpr bool thread_sanitizer = WALLOCK_THREAD_SANITIZER == 1;

}  // namespace wallock::test
