// Tells when the process copies the log into its database: nothing else writes to that file. It
// defines a function of the C library, and SQLite gets this one.
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "storm_ground.hpp"

namespace wallock::test {
namespace {

std::atomic<Phase>* watched_phase = nullptr;  // null: nobody watches
std::string watched;                          // the database
ino_t watched_file = 0;                       // once there is one

bool is_database(int file) noexcept {
  struct stat found{};
  if (watched_file == 0 && ::stat(watched.c_str(), &found) == 0) watched_file = found.st_ino;
  return ::fstat(file, &found) == 0 && found.st_ino == watched_file;
}

}  // namespace

void watch_for_checkpoints(const std::string& database, std::atomic<Phase>& phase) {
  watched = database;
  watched_file = 0;
  watched_phase = &phase;
}

void note_write(int file) noexcept {
  if (watched_phase != nullptr && *watched_phase == Phase::commit && is_database(file)) {
    *watched_phase = Phase::checkpoint;
  }
}

}  // namespace wallock::test

// Declared by a name of its own and given the library's name behind the compiler's back: its own
// declaration differs with the options of the build.
extern "C" {
ssize_t watched_pwrite64(int file, const void* data, size_t size, off_t at) __asm__("pwrite64");

ssize_t watched_pwrite64(int file, const void* data, size_t size, off_t at) {
  wallock::test::note_write(file);
  return ::syscall(SYS_pwrite64, file, data, size, at);
}
}
