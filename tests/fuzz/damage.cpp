#include "fuzz/damage.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <vector>

#include "fuzz/row_damage.hpp"
#include "temp_store.hpp"

namespace wallock::fuzz {
namespace {

constexpr std::size_t page = 512;
constexpr std::size_t log_header = 32;
constexpr std::size_t frame = 24 + page;

std::uint32_t read_32(const std::string& bytes, std::size_t at, bool big) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value = value << 8 | static_cast<unsigned char>(bytes[at + (big ? i : 3 - i)]);
  return value;
}

void write_32(std::string& bytes, std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i)
    bytes[at + i] = static_cast<char>(value >> (8 * (3 - i)));
}

// The checksum of SQLite's log (its file format document, section 4.2), carried on from `sum`.
void checksum(const std::string& bytes, std::size_t from, std::size_t count, bool big,
              std::array<std::uint32_t, 2>& sum) {
  for (std::size_t at = from; at < from + count; at += 8) {
    sum[0] += read_32(bytes, at, big) + sum[1];
    sum[1] += read_32(bytes, at + 4, big) + sum[0];
  }
}

void reseal_log(std::string& log) {
  if (log.size() < log_header) return;
  const bool big = (log[3] & 1) != 0;
  std::array<std::uint32_t, 2> sum{};
  checksum(log, 0, 24, big, sum);
  write_32(log, 24, sum[0]);
  write_32(log, 28, sum[1]);
  for (std::size_t at = log_header; at + frame <= log.size(); at += frame) {
    log.replace(at + 8, 8, log, 16, 8);  // the salts
    checksum(log, at, 8, big, sum);
    checksum(log, at + 24, page, big, sum);
    write_32(log, at + 16, sum[0]);
    write_32(log, at + 20, sum[1]);
  }
}

// One of the pages that the bytes hold, by its offset.
std::size_t any_page(const std::string& bytes, std::size_t first, std::size_t step, Input& input) {
  const std::size_t pages = bytes.size() < first ? 0 : (bytes.size() - first) / step;
  return first + (pages == 0 ? 0 : input.number(2) % pages) * step;
}

void overwrite(std::string& bytes, std::size_t at, std::string_view with) {
  if (at >= bytes.size()) return;
  bytes.replace(at, std::min(with.size(), bytes.size() - at), with.substr(0, bytes.size() - at));
}

void change_bytes(std::string& bytes, Input& input) {
  if (bytes.empty()) return;
  const std::size_t at = input.number(3) % bytes.size();
  const std::uint8_t how = input.byte();
  if (how < 128) {
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << how % 8));
  } else {
    overwrite(bytes, at, input.text(how % 16 + std::size_t{1}));
  }
}

void change_pages(std::string& bytes, std::size_t first, std::size_t step, Input& input) {
  const std::size_t one = any_page(bytes, first, step, input);
  const std::size_t other = any_page(bytes, first, step, input);
  const std::string was = bytes.substr(std::min(one, bytes.size()), step);
  switch (input.byte() % 4) {
    case 0:
      return overwrite(bytes, one, std::string(step, '\0'));
    case 1:
      return overwrite(bytes, other, was);
    case 2:
      overwrite(bytes, one, bytes.substr(std::min(other, bytes.size()), step));
      return overwrite(bytes, other, was);
    default:
      bytes.resize(std::min(bytes.size(), one + input.byte() % 4 * std::size_t{100}));
  }
}

// The page number or the size after the commit that a frame of the log names.
void change_frame(std::string& log, Input& input) {
  const std::size_t at =
      any_page(log, log_header, frame, input) + input.byte() % 2 * std::size_t{4};
  if (at + 4 <= log.size()) write_32(log, at, input.number(1));
}

void change(StoreFiles& files, std::uint8_t how, Input& input) {
  switch (how % 6) {
    case 0:
      return change_bytes(files.database, input);
    case 1:
      return change_bytes(files.log, input);
    case 2:
      return change_pages(files.database, 0, page, input);
    case 3:
      return change_pages(files.log, log_header, frame, input);
    case 4:
      return change_frame(files.log, input);
    default:
      files.sidecar = std::string(input.text(64));
      files.sidecar->resize(input.number(3) % 200'000, static_cast<char>(input.byte()));
  }
}

// Runs the statements on the files, by way of scratch ones; one that fails changes nothing.
void run_sql(StoreFiles& files, const std::vector<std::string>& sql, const std::string& scratch) {
  files.write(scratch);
  {
    test::RawDatabase raw(scratch);
    for (const int option : {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_FKEY})
      sqlite3_db_config(raw.handle(), option, 0, nullptr);
    sqlite3_db_config(raw.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    raw.run("PRAGMA ignore_check_constraints = 1; PRAGMA writable_schema = 1");
    for (const std::string& statement : sql) {
      const std::string words = raw.run(statement);
      if (std::getenv("WALLOCK_FUZZ_EXPLAIN") != nullptr) {
        std::cerr << statement << ": " << words << '\n';
      }
    }
  }
  files.database = test::read_file(scratch);
  files.log = test::read_file(scratch + "-wal");
}

}  // namespace

void StoreFiles::write(const std::string& path) const {
  for (const char* ending : {"", "-wal", "-shm", "-journal", "-wallock"}) {
    std::error_code ignored;
    std::filesystem::remove(path + ending, ignored);
  }
  test::write_file(path, database);
  if (!log.empty()) test::write_file(path + "-wal", log);
  if (sidecar) test::write_file(path + "-wallock", *sidecar);
}

void damage(StoreFiles& files, Input& input, bool reseal, const std::string& scratch) {
  constexpr std::size_t most = 24;
  std::vector<std::string> sql;
  // Rows first: the pages that are changed after them need not be a database any more.
  for (std::size_t rows = input.byte() % 4; rows > 0 && !input.empty(); --rows)
    sql.push_back(row_damage(input));
  if (!sql.empty()) run_sql(files, sql, scratch);
  for (std::size_t i = 0; i < most && !input.empty(); ++i) {
    const std::uint8_t how = input.byte();
    change(files, how, input);
  }
  if (reseal) reseal_log(files.log);
}

}  // namespace wallock::fuzz
