#include "observer.hpp"

#include <stdexcept>

namespace wallock::test {
namespace {

// Each row as words behind the one before it.
constexpr const char* looks[] = {
    "SELECT (SELECT max(position) + 1 FROM wallock_lease_queue_events) || ' records in epoch ' ||"
    " epoch FROM wallock_meta",
    "SELECT '; ' || resource || ' ' || issued || CASE WHEN holder IS NULL THEN '' ELSE"
    " ' ' || holder || ' ' || instance || ' until ' || expires_at END"
    " FROM wallock_resources WHERE issued > 0 ORDER BY resource",
    "SELECT '; breaker ' || resource || ' ' || state || ' ' || timeouts || ' ' || failed_probes ||"
    " ' ' || forced FROM wallock_breakers"
    " WHERE state > 0 OR timeouts > 0 OR failed_probes > 0 OR forced > 0 ORDER BY resource",
    "SELECT '; delivery ' || position || ' ' || CASE state WHEN 2 THEN claim_token ELSE 0 END ||"
    " ' ' || attempt || ' ' || due || ' born ' || born"
    " FROM wallock_deliveries ORDER BY position",
    "SELECT '; dead ' || count(*) FROM wallock_dead_letters",
};

}  // namespace

Observer::Observer(const std::string& path) {
  if (sqlite3_open_v2(path.c_str(), &db_, SQLITE_OPEN_READONLY, nullptr) != SQLITE_OK) {
    sqlite3_close(db_);
    throw std::runtime_error("the observer cannot open the store");
  }
}

Observer::~Observer() {
  for (sqlite3_stmt* statement : statements_)
    sqlite3_finalize(statement);
  sqlite3_close(db_);
}

sqlite3_stmt* Observer::prepared(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db_, sql, -1, &statement, nullptr) != SQLITE_OK) {
    throw std::runtime_error(std::string("the observer: ") + sqlite3_errmsg(db_));
  }
  statements_.push_back(statement);
  return statement;
}

std::string Observer::rows() {
  if (statements_.empty()) {
    for (const char* sql : looks)
      static_cast<void>(prepared(sql));
  }
  std::string words;
  for (std::size_t i = 0; i < std::size(looks); ++i) {
    sqlite3_stmt* const statement = statements_[i];
    int result = sqlite3_step(statement);
    for (; result == SQLITE_ROW; result = sqlite3_step(statement)) {
      words.append(reinterpret_cast<const char*>(sqlite3_column_text(statement, 0)),
                   static_cast<std::size_t>(sqlite3_column_bytes(statement, 0)));
    }
    sqlite3_reset(statement);
    if (result != SQLITE_DONE) {
      throw std::runtime_error(std::string("the observer: ") + sqlite3_errmsg(db_));
    }
  }
  return words;
}

std::string Observer::one_text(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db_, sql, -1, &statement, nullptr) != SQLITE_OK) {
    throw std::runtime_error(std::string("the observer: ") + sqlite3_errmsg(db_));
  }
  std::string words;
  if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL) {
    words = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
  }
  sqlite3_finalize(statement);
  return words;
}

// Actions whose payload begins with w came with work, which wrote a row.
std::string Observer::disagreement() {
  const bool has_rows = !one_text("SELECT 1 FROM sqlite_schema WHERE name = 'app'").empty();
  const std::string missing =
      one_text(has_rows ? "SELECT group_concat(e.action_id) FROM wallock_lease_queue_events e"
                          " JOIN wallock_payloads p USING (position) WHERE e.kind = 20"
                          " AND substr(CAST(p.payload AS TEXT), 1, 1) = 'w' AND NOT EXISTS"
                          " (SELECT 1 FROM app WHERE action = e.action_id AND token = e.token)"
                        : "SELECT group_concat(position) FROM wallock_payloads"
                          " WHERE substr(CAST(payload AS TEXT), 1, 1) = 'w'");
  if (!missing.empty()) return "actions without the rows of their work: " + missing;
  if (!has_rows) return "";
  const std::string alone = one_text(
      "SELECT group_concat(action) FROM app WHERE NOT EXISTS (SELECT 1 FROM"
      " wallock_lease_queue_events e WHERE e.action_id = app.action AND e.token = app.token)");
  return alone.empty() ? "" : "rows of work without their actions: " + alone;
}

std::string Observer::integrity() { return one_text("PRAGMA integrity_check"); }

}  // namespace wallock::test
