#include "sqlite/bulk_insert.hpp"

namespace wallock::sqlite {
namespace {

// The statement for so many rows, each "?" with the number of its parameter.
std::string text_of(std::string_view verb, std::string_view into, std::string_view row,
                    std::size_t count, int shared) {
  std::string text = std::string(verb) + " " + std::string(into) + " VALUES ";
  for (std::size_t n = 0; n < count; ++n) {
    if (n > 0) text += ",";
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += row[i];
      const bool own = row[i] == '?' && (row[i + 1] == ',' || row[i + 1] == ')');
      if (own) text += std::to_string(++shared);
    }
  }
  return text;
}

}  // namespace

// FAIL, not ABORT, for which SQLite would keep a journal of what a statement of several rows
// changes. (It keeps one all the same if a CHECK calls a function.)
BulkInsert::BulkInsert(std::string_view into, std::string_view row, int shared)
    : one_text_(text_of("INSERT", into, row, 1, shared)),
      many_text_(text_of("INSERT OR FAIL", into, row, rows_at_once, shared)) {}

}  // namespace wallock::sqlite
