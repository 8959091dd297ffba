// GatheredFrames: what a transaction has written to the log and the log does not have yet.
#pragma once

#include <sqlite3.h>

#include <string>

namespace wallock::sqlite {

// SQLite appends a transaction's frames one after the other, each as a header of 24 bytes and a
// page, and goes back only to change what it wrote in the same transaction. (The format:
// https://www.sqlite.org/fileformat2.html#the_write_ahead_log, section 4.1.)
//
// Of one log, used like its connection: by one thread at a time. Calls answer SQLite's codes.
class GatheredFrames {
 public:
  // `log` must outlive this.
  explicit GatheredFrames(sqlite3_file& log) noexcept : log_(log) {}

  // Appends to what is gathered. Writes all of it out with the last frame of a commit, and when
  // there is a lot. A write that does not append goes straight to the log, after what came before.
  // Any error is one of the log's; what was gathered is forgotten then, as SQLite rolls back.
  [[nodiscard]] int write(const char* bytes, int count, sqlite3_int64 offset) noexcept;
  // Writes what is gathered, if anything is.
  [[nodiscard]] int write_out() noexcept;
  // Forgets what is gathered: nobody commits it any more.
  void end_transaction() noexcept;

 private:
  [[nodiscard]] bool append(const char* bytes, int count, sqlite3_int64 offset) noexcept;
  [[nodiscard]] int write_through(const char* bytes, int count, sqlite3_int64 offset) noexcept;

  sqlite3_file& log_;
  std::string bytes_;
  sqlite3_int64 start_ = 0;  // where in the log they belong
  sqlite3_int64 end_ = 0;    // of all that was appended in this transaction, written out or not
  bool commits_ = false;     // the last header was that of a commit
};

}  // namespace wallock::sqlite
