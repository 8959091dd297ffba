// A transaction's frames reach the log with one write, and never after the transaction's end.
#include "sqlite/gathered_frames.hpp"

#include <SQLiteCpp/Database.h>

#include <vector>

#include "repository_support.hpp"
#include "sqlite/gathering_vfs.hpp"

namespace wallock::test {
namespace {

using sqlite::GatheredFrames;

constexpr int page = 512;
constexpr sqlite3_int64 frame = 24 + page;
constexpr sqlite3_int64 first = 32;  // behind the log's own header

std::string header(bool commits) {
  std::string bytes(24, 'h');
  bytes.replace(4, 4, 4, '\0');
  if (commits) bytes[7] = '\x09';
  return bytes;
}
std::string content(char of) { return std::string(page, of); }

struct Written {
  std::string bytes;
  sqlite3_int64 offset;
  friend bool operator==(const Written&, const Written&) = default;
};

// A log that remembers what is written to it, or fails, and the frames gathered for it.
struct Log {
  sqlite3_file file{};  // first: methods find the rest behind it
  sqlite3_io_methods methods{};
  std::vector<Written> writes;
  int answer = SQLITE_OK;
  GatheredFrames frames{file};

  Log() {
    methods.xWrite = &take;
    file.pMethods = &methods;
  }
  static int take(sqlite3_file* self, const void* bytes, int count, sqlite3_int64 offset) {
    auto& log = *reinterpret_cast<Log*>(self);
    const auto* text = static_cast<const char*>(bytes);
    if (log.answer == SQLITE_OK) {
      log.writes.push_back({std::string(text, static_cast<std::size_t>(count)), offset});
    }
    return log.answer;
  }
  int write(const std::string& bytes, sqlite3_int64 offset) {
    return frames.write(bytes.data(), static_cast<int>(bytes.size()), offset);
  }
  // Frame n with that page, as SQLite writes it.
  int append(int n, char of, bool commits = false) {
    const sqlite3_int64 at = first + n * frame;
    if (const int result = write(header(commits), at); result != SQLITE_OK) return result;
    return write(content(of), at + 24);
  }
};

// A store whose application keeps rows, and a second connection to it as the library opens them,
// with so little memory that a transaction writes to the log before it commits.
struct Spilling {
  TempStore at;
  Coordinator store = at.open(at.options());
  RawDatabase raw = at.raw();
  std::unique_ptr<SQLite::Database> writer;

  Spilling() {
    raw.must("CREATE TABLE rows (id INTEGER PRIMARY KEY, bytes BLOB)");
    writer = std::make_unique<SQLite::Database>(at.path(), SQLite::OPEN_READWRITE, 0,
                                                std::string(sqlite::gathering_vfs()));
    writer->exec("PRAGMA cache_size=1; PRAGMA cache_spill=1");
  }
  void insert(const std::string& from, const std::string& to) {
    writer->exec("WITH RECURSIVE n(i) AS (SELECT " + from +
                 " UNION ALL SELECT i + 1 FROM n WHERE i < " + to +
                 ") INSERT INTO rows SELECT i, randomblob(3000) FROM n");
  }
};

}  // namespace

TEST_CASE("a commit's frames are written with its last page, at once") {
  Log log;
  CHECK(log.append(0, 'a') == SQLITE_OK);
  CHECK(log.append(1, 'b') == SQLITE_OK);
  CHECK(log.writes.empty());
  CHECK(log.append(2, 'c', true) == SQLITE_OK);
  CHECK(log.writes == std::vector<Written>{{header(false) + content('a') + header(false) +
                                                content('b') + header(true) + content('c'),
                                            first}});
  log.frames.end_transaction();
  CHECK(log.append(3, 'd', true) == SQLITE_OK);
  REQUIRE(log.writes.size() == 2);
  CHECK(log.writes[1] == Written{header(true) + content('d'), first + 3 * frame});
}

TEST_CASE("a commit whose frames cannot be written is told so by its last page") {
  Log log;
  log.answer = SQLITE_FULL;
  CHECK(log.append(0, 'a') == SQLITE_OK);
  CHECK(log.append(1, 'b', true) == SQLITE_FULL);
  log.answer = SQLITE_OK;
  CHECK(log.frames.write_out() == SQLITE_OK);
  CHECK(log.writes.empty());  // forgotten: SQLite rolls back
}

TEST_CASE("what a transaction gathered is never written after its end") {
  Log log;
  CHECK(log.append(0, 'a') == SQLITE_OK);
  log.frames.end_transaction();
  CHECK(log.frames.write_out() == SQLITE_OK);
  CHECK(log.writes.empty());
  CHECK(log.append(0, 'b', true) == SQLITE_OK);
  CHECK(log.writes == std::vector<Written>{{header(true) + content('b'), first}});
}

TEST_CASE("a frame that is written again goes to the log after what came before it") {
  Log log;
  CHECK(log.append(0, 'a') == SQLITE_OK);
  CHECK(log.append(1, 'b') == SQLITE_OK);
  CHECK(log.write(content('A'), first + 24) == SQLITE_OK);
  REQUIRE(log.writes.size() == 2);
  CHECK(log.writes[0].offset == first);
  CHECK(log.writes[0].bytes.size() == 2 * frame);
  CHECK(log.writes[1] == Written{content('A'), first + 24});
  // After a savepoint was undone the last frames come again, and then the commit.
  CHECK(log.append(1, 'c', true) == SQLITE_OK);
  REQUIRE(log.writes.size() == 4);
  CHECK(log.writes[2] == Written{header(true), first + frame});
  CHECK(log.writes[3] == Written{content('c'), first + frame + 24});
}

TEST_CASE("checksums that are corrected after a commit's last page are in the log at once") {
  Log log;
  CHECK(log.append(0, 'a') == SQLITE_OK);
  CHECK(log.append(1, 'b', true) == SQLITE_OK);
  CHECK(log.write(header(false), first) == SQLITE_OK);
  CHECK(log.write(header(true), first + frame) == SQLITE_OK);
  CHECK(log.writes.size() == 3);
}

TEST_CASE("what is gathered is written out before it is read, and when there is a lot of it") {
  Log log;
  CHECK(log.append(0, 'a') == SQLITE_OK);
  CHECK(log.frames.write_out() == SQLITE_OK);
  CHECK(log.writes.size() == 1);
  for (int n = 1; n < 1000; ++n)
    CHECK(log.append(n, 'b') == SQLITE_OK);
  CHECK(log.append(1000, 'c', true) == SQLITE_OK);
  CHECK(log.writes.size() <= 20);
  // One after the other, and none longer than SQLite's own VFS can write: 131'071 bytes.
  sqlite3_int64 end = first;
  for (const Written& written : log.writes) {
    CHECK(written.offset == end);
    CHECK(written.bytes.size() <= 131'071);
    end += static_cast<sqlite3_int64>(written.bytes.size());
  }
  CHECK(end == first + 1001 * frame);
}

TEST_CASE("frames of a transaction that was rolled back do not overwrite another's") {
  Spilling spilling;
  spilling.writer->exec("BEGIN IMMEDIATE");
  spilling.insert("1", "40");
  spilling.writer->exec("ROLLBACK");
  for (int i = 0; i < 40; ++i)
    CHECK(answer(spilling.store.execute("r", sent("a" + std::to_string(i)))) == "ok");
  // Whatever this connection still has in mind for the log would come now.
  spilling.insert("1", "3");
  spilling.raw.must("PRAGMA wal_checkpoint(PASSIVE)");
  CHECK(spilling.raw.text("PRAGMA integrity_check") == "ok");
  CHECK(spilling.raw.integer("SELECT count(*) FROM rows") == 3);
  CHECK(spilling.store.verify().value().damage == DamageKind::none);
}

TEST_CASE("a transaction reads what it wrote to the log and the log does not have yet") {
  Spilling spilling;
  spilling.writer->exec(
      "BEGIN IMMEDIATE; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
      "15) "
      "INSERT INTO rows SELECT i, CAST(printf('%3000d', i) AS BLOB) FROM n");
  const char* const same =
      "SELECT count(*) FROM rows WHERE bytes = CAST(printf('%3000d', id) AS BLOB)";
  CHECK(spilling.writer->execAndGet(same).getInt() == 15);
  spilling.writer->exec("COMMIT");
  CHECK(spilling.raw.integer(same) == 15);
}

TEST_CASE("a transaction larger than the connection's memory is committed whole") {
  Spilling spilling;
  spilling.writer->exec("BEGIN IMMEDIATE");
  spilling.insert("1", "30");
  spilling.writer->exec("SAVEPOINT s");
  spilling.insert("31", "60");
  spilling.writer->exec("UPDATE rows SET bytes = randomblob(3000) WHERE id % 3 = 0");
  spilling.writer->exec("ROLLBACK TO s; RELEASE s");
  spilling.insert("61", "90");
  spilling.writer->exec("UPDATE rows SET bytes = zeroblob(3000) WHERE id % 2 = 0");
  spilling.writer->exec("COMMIT");
  CHECK(spilling.raw.integer("SELECT count(*) FROM rows") == 60);
  CHECK(spilling.raw.integer("SELECT count(*) FROM rows WHERE bytes = zeroblob(3000)") == 30);
  CHECK(spilling.raw.text("PRAGMA integrity_check") == "ok");
}

}  // namespace wallock::test
