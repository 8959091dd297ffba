#include "sqlite/statement.hpp"

#include "sqlite/sql_error.hpp"

namespace wallock::sqlite {
namespace {

// A foreign key of the application's onto columns of ours that are no key is an ordinary error to
// SQLite, like a table that is gone: only the words tell.
int told_apart(sqlite3* database, int result) noexcept {
  constexpr std::string_view mismatch = "foreign key mismatch";
  if (result != SQLITE_ERROR) return result;
  return std::string_view(sqlite3_errmsg(database)).starts_with(mismatch)
             ? SQLITE_CONSTRAINT_FOREIGNKEY
             : result;
}

}  // namespace

int Statement::prepare(sqlite3* database) noexcept {
  if (handle_ != nullptr) return SQLITE_OK;
  return told_apart(database,
                    sqlite3_prepare_v3(database, sql_.data(), static_cast<int>(sql_.size()),
                                       SQLITE_PREPARE_PERSISTENT, &handle_, nullptr));
}

void Statement::finalize() noexcept {
  sqlite3_finalize(handle_);
  handle_ = nullptr;
}

Result<bool> Query::step() {
  if (result_ != SQLITE_OK) return fail(sql_error(result_));
  const int result = sqlite3_step(handle_);
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) return false;
  return fail(sql_error(told_apart(sqlite3_db_handle(handle_), result)));
}

Status Query::run() {
  const auto row = step();
  if (!row) return fail(row.error());
  // A row nobody asked for means that the statement is not the one this caller thinks it is.
  if (*row) return fail(sql_error(SQLITE_MISUSE));
  return {};
}

std::string_view Query::text(int column) const noexcept {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_, column));
  return data == nullptr ? std::string_view() : std::string_view(data, size);
}

std::span<const std::uint8_t> Query::bytes(int column) const noexcept {
  const auto* data = static_cast<const std::uint8_t*>(sqlite3_column_blob(handle_, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_, column));
  return data == nullptr ? std::span<const std::uint8_t>()
                         : std::span<const std::uint8_t>(data, size);
}

void Query::bind(int index, std::string_view value) noexcept {
  // A null pointer would bind NULL: an empty text has to point somewhere.
  const char* data = value.data() == nullptr ? "" : value.data();
  note(sqlite3_bind_text64(handle_, index, data, value.size(), SQLITE_STATIC, SQLITE_UTF8));
}

void Query::bind(int index, std::span<const std::uint8_t> value) noexcept {
  if (value.empty()) {
    note(sqlite3_bind_zeroblob(handle_, index, 0));
  } else {
    note(sqlite3_bind_blob64(handle_, index, value.data(), value.size(), SQLITE_STATIC));
  }
}

}  // namespace wallock::sqlite
