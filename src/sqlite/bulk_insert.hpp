// BulkInsert: rows into one table, several of them with one statement.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sqlite/statement.hpp"

namespace wallock::sqlite {

// Each run of a statement has a price, whatever it does: its cursors are opened and closed. Rows in
// tens pay a tenth of it. (Twenty would save 3 % more, and leave more rows to go one by one.)
inline constexpr std::size_t rows_at_once = 10;

// Used by one thread at a time, on one connection, which must outlive it.
class BulkInsert {
 public:
  // "INTO table (columns)" and the values of a row: "(?, ?1, ?2, 0)". "?1" to the number of
  // `shared` are parameters that all rows of a run have in common, each "?" is one of the row's.
  BulkInsert(std::string_view into, std::string_view row, int shared);

  // Inserts the rows 0 to count - 1, in that order. share(query) adds the values that they have in
  // common to the query, bind(query, row) those of one row; text and blobs must live until this
  // returns. If a row is refused (its constraint's error), those before it may have been written:
  // SQLite counts them as changes, and the caller undoes the transaction, or to a savepoint.
  template <class Share, class Bind>
  [[nodiscard]] Status run(sqlite3* db, std::size_t count, const Share& share, const Bind& bind) {
    std::size_t done = 0;
    for (; done + rows_at_once <= count; done += rows_at_once) {
      if (auto ok = insert(db, many_, done, rows_at_once, share, bind); !ok) return ok;
    }
    for (; done < count; ++done) {
      if (auto ok = insert(db, one_, done, 1, share, bind); !ok) return ok;
    }
    return {};
  }

 private:
  template <class Share, class Bind>
  [[nodiscard]] static Status insert(sqlite3* db, Statement& statement, std::size_t first,
                                     std::size_t count, const Share& share, const Bind& bind) {
    Query query(db, statement);
    share(query);
    for (std::size_t row = first; row < first + count; ++row)
      bind(query, row);
    return query.run();
  }

  const std::string one_text_;
  const std::string many_text_;
  Statement one_{one_text_};
  Statement many_{many_text_};
};

}  // namespace wallock::sqlite
