#include "allocations.hpp"

#include <sqlite3.h>

#include <cstdlib>
#include <new>

namespace wallock::test {
namespace {

struct State {
  AllocationFault fault;
  bool armed = false;
  bool within = false;
  std::uint64_t count = 0;
  std::uint64_t failed = 0;
};

thread_local constinit State state;

// True if this allocation is to fail.
bool fails() noexcept {
  if (!state.armed || !state.within) return false;
  const std::uint64_t number = state.count++;
  const bool hit = number == state.fault.at || (state.fault.for_ever && number > state.fault.at);
  if (hit) ++state.failed;
  return hit;
}

sqlite3_mem_methods usual;

void* sqlite_malloc(int size) { return fails() ? nullptr : usual.xMalloc(size); }
void* sqlite_realloc(void* memory, int size) {
  return fails() ? nullptr : usual.xRealloc(memory, size);
}

// Before anything else uses SQLite: its allocator cannot be changed later.
const bool installed = [] {
  if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &usual) != SQLITE_OK) std::abort();
  sqlite3_mem_methods methods = usual;
  methods.xMalloc = &sqlite_malloc;
  methods.xRealloc = &sqlite_realloc;
  if (sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) != SQLITE_OK) std::abort();
  return true;
}();

}  // namespace

void arm_allocations(const AllocationFault& fault) noexcept {
  state = State{.fault = fault, .armed = installed, .within = state.within};
}
void disarm_allocations() noexcept { state.armed = false; }
std::uint64_t allocations() noexcept { return state.count; }
std::uint64_t failed_allocations() noexcept { return state.failed; }
bool is_within_call() noexcept { return state.within; }

namespace detail {

WithinCall::WithinCall() noexcept { state.within = true; }
WithinCall::~WithinCall() { state.within = false; }

void* allocate(std::size_t size) noexcept {
  return fails() ? nullptr : std::malloc(size == 0 ? 1 : size);
}
void* allocate(std::size_t size, std::align_val_t alignment) noexcept {
  const auto step = static_cast<std::size_t>(alignment);
  return fails() ? nullptr : std::aligned_alloc(step, (size + step - 1) / step * step);
}
void* must(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace detail
}  // namespace wallock::test

using wallock::test::detail::allocate;
using wallock::test::detail::must;

void* operator new(std::size_t size) { return must(allocate(size)); }
void* operator new[](std::size_t size) { return must(allocate(size)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return must(allocate(size, alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return must(allocate(size, alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
