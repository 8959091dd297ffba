// Peers: all that are compared, each made in a file of its own.
#pragma once

#include <string>
#include <vector>

#include "peer.hpp"

namespace wallock::bench {

// Where the peers live. An empty socket means that its server is not there.
struct Places {
  std::string folder;          // for the peers that are libraries
  std::string redis_always;    // the socket of a server with appendfsync always
  std::string redis_everysec;  // and of one with everysec
  std::string postgres;        // the folder of the server's socket
};

[[nodiscard]] std::vector<Peer> wallock_peers(const Places& places);
[[nodiscard]] std::vector<Peer> redis_peers(const Places& places);
[[nodiscard]] std::vector<Peer> postgres_peers(const Places& places);
[[nodiscard]] std::vector<Peer> sqlite_peers(const Places& places);
[[nodiscard]] std::vector<Peer> flock_peers(const Places& places);

}  // namespace wallock::bench
