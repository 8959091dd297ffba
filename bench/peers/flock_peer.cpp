#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "peers.hpp"

namespace wallock::bench {
namespace {

class FileLock final : public LeaseClient {
 public:
  explicit FileLock(std::string prefix) : prefix_(std::move(prefix)) {}
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock() override {
    if (file_ >= 0) close(file_);
  }

  void acquire(const std::string& key) override {
    if (file_ < 0) {
      file_ = open((prefix_ + key).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    }
    if (file_ < 0 || flock(file_, LOCK_EX) != 0) give_up("flock", "cannot lock");
  }
  void release() override { flock(file_, LOCK_UN); }

 private:
  std::string prefix_;
  int file_ = -1;
};

}  // namespace

std::vector<Peer> flock_peers(const Places& places) {
  return {
      {.name = "flock",
       .durable = false,
       .durability = "nothing: a lock in the kernel, without token or ttl",
       .waiting = "flock(2) blocks",
       .lease = [folder = places.folder](const std::string& space, const std::string&, Company) {
         return std::make_unique<FileLock>(folder + "/flock-" + space + "-");
       }}};
}

}  // namespace wallock::bench
