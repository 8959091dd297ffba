// Waits for a resource, says that it has it, and lets go when it is told to.
//
//   waiter DATABASE RESOURCE[,RESOURCE...] WAIT_MS TTL_MS [fork]
//
// Prints "waiting" before the call, then "granted TOKEN" or the name of the error; with "fork" a
// child is made after the grant, which sleeps until it is killed. A line of input has it release
// ("released") or, with "leave", end without releasing and without closing ("left").
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "wallock/coordinator.hpp"

namespace {

using std::chrono::milliseconds;

void say(const std::string& text) {
  std::puts(text.c_str());
  std::fflush(stdout);
}

std::vector<wallock::Given<wallock::ResourceName>> names(const std::string& list) {
  std::vector<wallock::Given<wallock::ResourceName>> result;
  std::istringstream stream(list);
  for (std::string name; std::getline(stream, name, ',');)
    result.emplace_back(name);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return EXIT_FAILURE;
  auto coordinator = wallock::Coordinator::open(argv[1]);
  if (!coordinator) {
    say(to_string(coordinator.error()));
    return EXIT_FAILURE;
  }
  say("waiting");
  const auto wanted = names(argv[2]);
  const wallock::AcquireOptions options{.ttl = milliseconds(std::stol(argv[4])),
                                        .wait = milliseconds(std::stol(argv[3]))};
  std::vector<wallock::Lease> leases;
  std::optional<wallock::Error> refusal;
  if (wanted.size() == 1) {
    auto lease = coordinator->acquire(wanted.front(), options);
    if (lease) leases.push_back(*lease);
    if (!lease) refusal = lease.error();
  } else {
    auto all = coordinator->acquire_all(wanted, options);
    if (all) leases = *all;
    if (!all) refusal = all.error();
  }
  if (refusal) {
    say(std::string(to_string(refusal->code())));
    return EXIT_SUCCESS;
  }
  say("granted " + to_string(leases.front().token()));
  if (argc > 5 && std::string(argv[5]) == "fork") {
    const pid_t child = fork();
    if (child == 0) {
      for (;;)
        pause();
    }
    say("child " + std::to_string(child));
  }
  std::string order;
  std::getline(std::cin, order);
  if (order == "leave") {
    say("left");
    std::_Exit(EXIT_SUCCESS);
  }
  for (const auto& lease : leases) {
    if (!coordinator->release(lease)) return EXIT_FAILURE;
  }
  say("released");
  return EXIT_SUCCESS;
}
