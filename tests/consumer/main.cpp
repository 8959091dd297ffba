// A user's program: it must compile, link and run against wallock however it was brought in.
#include <cstdio>

#include <wallock/token.hpp>
#include <wallock/version.hpp>

int main() {
  if (wallock::library_version() != wallock::version) {
    std::puts("the library is not the one that the headers belong to");
    return 1;
  }
  std::printf("wallock %s\n", WALLOCK_VERSION_STRING);
  return 0;
}
