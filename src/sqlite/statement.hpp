// Statement and Query: prepared statements without exceptions, always reset.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "wallock/result.hpp"
#include "wallock/time.hpp"
#include "wallock/token.hpp"

namespace wallock::sqlite {

// A statement that is prepared when first used and kept for the life of its connection, which must
// outlive it. SQLiteCpp's Statement is not used on this path: it throws on BUSY, throws again in
// reset(), copies strings, and cannot prepare with SQLITE_PREPARE_PERSISTENT.
class Statement {
 public:
  // `sql` must outlive the statement: a literal.
  explicit Statement(std::string_view sql) noexcept : sql_(sql) {}
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { finalize(); }

  // SQLITE_OK, or why it cannot be prepared.
  int prepare(sqlite3* database) noexcept;
  // Before its connection closes.
  void finalize() noexcept;

  [[nodiscard]] sqlite3_stmt* get() const noexcept { return handle_; }

 private:
  std::string_view sql_;
  sqlite3_stmt* handle_ = nullptr;
};

// One execution of a statement: binds, steps, reads, and resets the statement at its end. Text and
// blobs are bound without copying: they must live as long as the Query.
class Query {
 public:
  // Binds the values to the parameters ?1, ?2, ... in order.
  template <class... Values>
  explicit Query(sqlite3* database, Statement& statement, const Values&... values) noexcept
      : result_(statement.prepare(database)), handle_(statement.get()) {
    add(values...);
  }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query() {
    if (handle_ != nullptr) sqlite3_reset(handle_);
  }

  // Binds the values to the parameters that come next, in order.
  template <class... Values>
  void add(const Values&... values) noexcept {
    (bind(++bound_, values), ...);
  }

  // True if there is a row to read, false at the end.
  [[nodiscard]] Result<bool> step();
  // Runs a statement that gives no rows.
  [[nodiscard]] Status run();

  [[nodiscard]] bool is_null(int column) const noexcept {
    return sqlite3_column_type(handle_, column) == SQLITE_NULL;
  }
  [[nodiscard]] std::int64_t integer(int column) const noexcept {
    return sqlite3_column_int64(handle_, column);
  }
  [[nodiscard]] FencingToken token(int column) const noexcept {
    return FencingToken::from_value(static_cast<std::uint64_t>(integer(column)))
        .value_or(FencingToken());
  }
  // Empty if it is beyond the number line.
  [[nodiscard]] std::optional<std::uint64_t> epoch(int column) const noexcept {
    const auto value = static_cast<std::uint64_t>(integer(column));
    return value <= FencingToken::max_epoch ? std::optional(value) : std::nullopt;
  }
  [[nodiscard]] Instant instant(int column) const noexcept {
    return Instant(Duration(integer(column)));
  }
  // Valid until the next step or the end of the Query.
  [[nodiscard]] std::string_view text(int column) const noexcept;
  [[nodiscard]] std::span<const std::uint8_t> bytes(int column) const noexcept;

 private:
  void bind(int index, std::nullptr_t) noexcept { note(sqlite3_bind_null(handle_, index)); }
  void bind(int index, std::int64_t value) noexcept {
    note(sqlite3_bind_int64(handle_, index, value));
  }
  void bind(int index, std::uint64_t value) noexcept {
    bind(index, static_cast<std::int64_t>(value));
  }
  void bind(int index, int value) noexcept { bind(index, std::int64_t{value}); }
  void bind(int index, std::uint32_t value) noexcept { bind(index, std::int64_t{value}); }
  void bind(int index, FencingToken value) noexcept { bind(index, value.value()); }
  void bind(int index, Instant value) noexcept {
    bind(index, std::int64_t{value.time_since_epoch().count()});
  }
  void bind(int index, Duration value) noexcept { bind(index, std::int64_t{value.count()}); }
  void bind(int index, std::string_view value) noexcept;
  void bind(int index, const std::string& value) noexcept { bind(index, std::string_view(value)); }
  void bind(int index, std::span<const std::uint8_t> value) noexcept;
  template <class T>
  void bind(int index, const std::optional<T>& value) noexcept {
    if (value) {
      bind(index, *value);
    } else {
      bind(index, nullptr);
    }
  }
  void note(int result) noexcept {
    if (result_ == SQLITE_OK) result_ = result;
  }

  int result_;
  sqlite3_stmt* handle_;
  int bound_ = 0;
};

}  // namespace wallock::sqlite
