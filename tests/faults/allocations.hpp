// Allocations that fail on demand: those of SQLite and of C++, inside the library's calls.
#pragma once

#include <cstdint>
#include <utility>

namespace wallock::test {

// Which allocation fails, counted from 0 among those of the calling thread that are made `within`
// a call; nothing else in the process is ever touched. This executable has operator new replaced,
// and SQLite given another allocator, for good: without a fault both only pass on.
struct AllocationFault {
  std::uint64_t at = 0;
  bool for_ever = false;  // or only that one
};

// For the calling thread, until disarmed; the counting begins anew.
void arm_allocations(const AllocationFault& fault) noexcept;
void disarm_allocations() noexcept;
// Since arm_allocations: allocations within calls, and those that failed.
[[nodiscard]] std::uint64_t allocations() noexcept;
[[nodiscard]] std::uint64_t failed_allocations() noexcept;

// True while the calling thread makes a call of the library by way of within().
[[nodiscard]] bool is_within_call() noexcept;

namespace detail {

class WithinCall {
 public:
  WithinCall() noexcept;
  WithinCall(const WithinCall&) = delete;
  WithinCall& operator=(const WithinCall&) = delete;
  ~WithinCall();
};

}  // namespace detail

// Makes one call of the library.
template <class Call>
auto within(Call&& call) {
  const detail::WithinCall scope;
  return std::forward<Call>(call)();
}

}  // namespace wallock::test
