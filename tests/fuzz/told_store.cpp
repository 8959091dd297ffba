#include "fuzz/told_store.hpp"

#include <sqlite3.h>

#include <algorithm>

#include "fuzz/golden_store.hpp"
#include "temp_store.hpp"

namespace wallock::fuzz {
namespace {

// The number in the column; empty if there is no row, or none that SQLite can read.
std::optional<std::int64_t> number(sqlite3* db, const std::string& sql, const std::string& key) {
  sqlite3_stmt* statement = nullptr;
  std::optional<std::int64_t> value;
  if (sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK) {
    if (sqlite3_bind_parameter_count(statement) > 0) {
      sqlite3_bind_text(statement, 1, key.data(), static_cast<int>(key.size()), SQLITE_TRANSIENT);
    }
    if (sqlite3_step(statement) == SQLITE_ROW) value = sqlite3_column_int64(statement, 0);
  }
  sqlite3_finalize(statement);
  return value;
}

ToldResource told(sqlite3* db, const std::string& name) {
  const auto of = [&](const char* column, const char* table) {
    return number(db, std::string("SELECT ") + column + " FROM " + table + " WHERE resource = ?1",
                  name);
  };
  return {.max_fence = of("max_fence", "wallock_resources"),
          .issued = of("issued", "wallock_resources"),
          .breaker = number(db,
                            "SELECT ifnull(b.state, b.resource IS NOT NULL) FROM wallock_resources "
                            "AS r LEFT JOIN wallock_breakers AS b ON b.resource = r.resource WHERE "
                            "r.resource = ?1 AND (CAST(ifnull(r.has_breaker, 0) AS INTEGER) <> 0) "
                            "= (b.resource IS NOT NULL)",
                            name),
          .forced = of("forced", "wallock_breakers").value_or(0) != 0};
}

}  // namespace

ToldStore::ToldStore(const std::string& path, bool raises_epoch) {
  const test::RawDatabase raw(path);
  sqlite3_db_config(raw.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  for (const char* name : {"account", "bank", "mail", "once", "probed", "shut"})
    resources_[name] = told(raw.handle(), name);
  epoch_ = number(raw.handle(), "SELECT epoch FROM wallock_meta WHERE id = 1", {});
  if (epoch_ && raises_epoch) ++*epoch_;
}

bool ToldStore::allows(const Lease& lease) const {
  const ToldResource& row = resources_.at(lease.resource().str());
  const auto token = static_cast<std::int64_t>(lease.token().value());
  return row.max_fence && row.issued && row.breaker && epoch_ && token > *row.max_fence &&
         token <= *row.issued && token >> FencingToken::position_bits == *epoch_ &&
         *row.breaker == 0 && !row.forced;
}

bool ToldStore::may_grant(const std::string& resource) const {
  const auto row = resources_.find(resource);
  if (row == resources_.end()) return true;
  const bool is_fresh = !row->second.max_fence && !row->second.breaker;
  return is_fresh || (row->second.breaker == 0 && !row->second.forced);
}

std::int64_t ToldStore::highest(const std::string& resource) const {
  const auto row = resources_.find(resource);
  if (row == resources_.end()) return 0;
  return std::max(row->second.max_fence.value_or(0), row->second.issued.value_or(0));
}

}  // namespace wallock::fuzz
