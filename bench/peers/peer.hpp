// Peer: a system that leases or outboxes could be built on, as its own users would use it.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace wallock::bench {

// Ends the program: a benchmark cannot go on after an error.
[[noreturn]] inline void give_up(const std::string& who, const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", who.c_str(), what.c_str());
  std::exit(EXIT_FAILURE);
}

// One process's way to the leases of one peer. Belongs to one thread.
class LeaseClient {
 public:
  LeaseClient() = default;
  LeaseClient(const LeaseClient&) = delete;
  LeaseClient& operator=(const LeaseClient&) = delete;
  virtual ~LeaseClient() = default;

  // Waits until it has the key.
  virtual void acquire(const std::string& key) = 0;
  // Gives the key back that was acquired last.
  virtual void release() = 0;
};

// One process's way to the outbox of one peer. Belongs to one thread.
class OutboxClient {
 public:
  OutboxClient() = default;
  OutboxClient(const OutboxClient&) = delete;
  OutboxClient& operator=(const OutboxClient&) = delete;
  virtual ~OutboxClient() = default;

  // Puts one row of the application's and so many messages in, all or nothing.
  virtual void enqueue(std::size_t messages) = 0;
  // Puts messages in that can all be claimed at once, in whichever way is quickest. Not measured.
  virtual void fill(std::size_t messages) = 0;
  // Takes so many messages, which nobody else gets meanwhile; ends the program if there are fewer.
  virtual void claim(std::size_t messages) = 0;
  // Says of all claimed ones that they are delivered, in whichever way is quickest.
  virtual void acknowledge() = 0;
};

// Whether a client has to expect others on its key, and must be able to wait for them.
enum class Company { alone, others };

struct Peer {
  std::string name;
  // Whether an answer survives a power cut, in the sense of the strictest level.
  bool durable = false;
  // What survives, and how one waits for a lease, in words.
  std::string durability = {};
  std::string waiting = {};
  // Differs from another peer in its waiting only: measured where there is company.
  bool only_in_company = false;
  // Makes a client on a place of its own per `space` (a file, a prefix, a table). `who` tells the
  // processes apart. Empty where the peer has no such thing, or it is not compared.
  std::function<std::unique_ptr<LeaseClient>(const std::string& space, const std::string& who,
                                             Company company)>
      lease = {};
  std::function<std::unique_ptr<OutboxClient>(const std::string& space)> outbox = {};
  // Why it is left out: "skipped"; empty if it is not.
  std::string skipped = {};
};

inline constexpr std::size_t message_bytes = 200;

[[nodiscard]] inline std::string message_payload() { return std::string(message_bytes, 'p'); }

}  // namespace wallock::bench
