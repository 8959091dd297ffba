#include "spent.hpp"

#include <dlfcn.h>
#include <openssl/evp.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdlib>
#include <limits>

namespace wallock::bench {
namespace {

std::int64_t clock_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// What a Timed measures of nothing at all.
std::int64_t clock_cost() noexcept {
  static const std::int64_t cost = [] {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (int i = 0; i < 1000; ++i) {
      const std::int64_t before = clock_ns();
      least = std::min(least, clock_ns() - before);
    }
    return least;
  }();
  return cost;
}

std::atomic<std::int64_t> flush{0}, files{0}, hashing{0};

class Timed {
 public:
  explicit Timed(std::atomic<std::int64_t>& sum) noexcept : sum_(sum), before_(clock_ns()) {}
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  ~Timed() { sum_ += clock_ns() - before_ - clock_cost(); }

 private:
  std::atomic<std::int64_t>& sum_;
  std::int64_t before_;
};

// The function of that name that would have been called without this program's.
template <class Function>
Function next(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) std::abort();
  return reinterpret_cast<Function>(found);
}

}  // namespace

Spent spent_so_far() noexcept { return {flush.load(), files.load(), hashing.load()}; }

}  // namespace wallock::bench

using wallock::bench::Timed;

extern "C" {

int fdatasync(int file) {
  const Timed timed(wallock::bench::flush);
  return static_cast<int>(syscall(SYS_fdatasync, file));
}

int fsync(int file) {
  const Timed timed(wallock::bench::flush);
  return static_cast<int>(syscall(SYS_fsync, file));
}

ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t offset) {
  const Timed timed(wallock::bench::files);
  return syscall(SYS_pwrite64, file, bytes, size, offset);
}

ssize_t pread64(int file, void* bytes, size_t size, off64_t offset) {
  const Timed timed(wallock::bench::files);
  return syscall(SYS_pread64, file, bytes, size, offset);
}

int fcntl64(int file, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* argument = va_arg(rest, void*);
  va_end(rest);
  const Timed timed(wallock::bench::files);
  return static_cast<int>(syscall(SYS_fcntl, file, command, argument));
}

int EVP_DigestInit_ex2(EVP_MD_CTX* context, const EVP_MD* type, const OSSL_PARAM* parameters) {
  static const auto real = wallock::bench::next<decltype(&EVP_DigestInit_ex2)>(__func__);
  const Timed timed(wallock::bench::hashing);
  return real(context, type, parameters);
}

int EVP_DigestUpdate(EVP_MD_CTX* context, const void* bytes, size_t size) {
  static const auto real = wallock::bench::next<decltype(&EVP_DigestUpdate)>(__func__);
  const Timed timed(wallock::bench::hashing);
  return real(context, bytes, size);
}

int EVP_DigestFinal_ex(EVP_MD_CTX* context, unsigned char* digest, unsigned int* size) {
  static const auto real = wallock::bench::next<decltype(&EVP_DigestFinal_ex)>(__func__);
  const Timed timed(wallock::bench::hashing);
  return real(context, digest, size);
}

}  // extern "C"
