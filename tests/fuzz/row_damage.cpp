#include "fuzz/row_damage.hpp"

#include <random>
#include <span>
#include <string_view>
#include <utility>

namespace wallock::fuzz {
namespace {

struct Table {
  std::string_view name;
  std::span<const std::string_view> columns;  // the key first
};

constexpr std::string_view meta[] = {"id",       "schema_version", "min_reader", "min_writer",
                                     "store_id", "epoch",          "boot_id"};
constexpr std::string_view resources[] = {"resource", "max_fence", "issued",     "has_breaker",
                                          "holder",   "instance",  "granted_at", "expires_at",
                                          "request",  "metadata"};
constexpr std::string_view breakers[] = {
    "resource",      "state",          "forced",          "timeouts", "generation",
    "failed_probes", "interval_ns",    "since_at",        "epoch",    "probe_token",
    "probe_holder",  "probe_instance", "probe_expires_at"};
constexpr std::string_view events[] = {"position", "kind",    "resource",    "action_id", "token",
                                       "state",    "subject", "until_at",    "score",     "digest",
                                       "actor",    "detail",  "recorded_at", "leaf_hash", "nodes"};
constexpr std::string_view payloads[] = {"position",    "token",        "fence",         "salt",
                                         "destination", "amount_units", "amount_places", "payload"};
constexpr std::string_view deliveries[] = {"position", "resource", "destination", "state", "born",
                                           "due",      "attempt",  "claim_token", "held"};
constexpr std::string_view schema[] = {"name", "rootpage", "sql", "type", "tbl_name"};

constexpr Table tables[] = {{"wallock_resources", resources},
                            {"wallock_breakers", breakers},
                            {"wallock_lease_queue_events", events},
                            {"wallock_payloads", payloads},
                            {"wallock_deliveries", deliveries},
                            {"wallock_meta", meta},
                            {"sqlite_schema", schema}};

// What a column may be set to: numbers at their ends, texts and blobs of any kind, another row's.
std::string value(std::string_view table, std::string_view column, Input& input) {
  constexpr std::string_view constants[] = {"NULL",
                                            "-1",
                                            "0",
                                            "1",
                                            "2",
                                            "9223372036854775807",
                                            "-9223372036854775807 - 1",
                                            "8796093022207",
                                            "''",
                                            "'account'",
                                            "'bank'",
                                            "CAST(x'ff00fe' AS TEXT)",
                                            "x''",
                                            "zeroblob(32)",
                                            "zeroblob(300)",
                                            "replace(hex(zeroblob(600)), '0', 'n')"};
  const std::uint8_t which = input.byte();
  const std::string own(column);
  if (which < 160) return std::string(constants[which % std::size(constants)]);
  switch (which % 4) {
    case 0:
      return std::to_string(input.number(4));
    case 1:
      return own + " + " + std::to_string(input.number(1)) + " - 128";
    case 2:
      return "(SELECT " + own + " FROM " + std::string(table) + " LIMIT 1 OFFSET " +
             std::to_string(input.byte() % 16) + ")";
    default:
      return "substr(" + own + ", " + std::to_string(input.byte() % 40) + ")";
  }
}

std::string row_of(const Table& table, Input& input) {
  const std::string key(table.columns[0]);
  return " WHERE " + key + " IN (SELECT " + key + " FROM " + std::string(table.name) +
         " ORDER BY 1 LIMIT " + (input.byte() % 8 == 0 ? "100" : "1") + " OFFSET " +
         std::to_string(input.byte() % 48) + ")";
}

std::string copy_of_row(const Table& table, Input& input) {
  const std::size_t changed = input.byte() % table.columns.size();
  std::string columns;
  std::string values;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string_view column = table.columns[i];
    columns += (i == 0 ? "" : ", ") + std::string(column);
    values += (i == 0 ? "" : ", ") +
              (i == changed ? value(table.name, column, input) : std::string(column));
  }
  const std::string name(table.name);
  return "INSERT OR REPLACE INTO " + name + " (" + columns + ") SELECT " + values + " FROM " +
         name + row_of(table, input);
}

std::string dropped(Input& input) {
  constexpr std::string_view names[] = {"TRIGGER wallock_events_no_update",
                                        "TRIGGER wallock_events_no_delete",
                                        "TRIGGER wallock_resources_fence_never_replaced",
                                        "TRIGGER wallock_breakers_close_only_by_a_probe",
                                        "TRIGGER wallock_resources_breaker_stays",
                                        "TRIGGER wallock_deliveries_leave_gate",
                                        "INDEX wallock_events_action_id",
                                        "INDEX wallock_deliveries_due",
                                        "INDEX wallock_deliveries_line",
                                        "TABLE wallock_breakers",
                                        "TABLE wallock_meta",
                                        "TABLE wallock_payloads",
                                        "TABLE wallock_deliveries",
                                        "TABLE wallock_migrations",
                                        "TABLE wallock_dead_letters"};
  return "DROP " + std::string(names[input.byte() % std::size(names)]);
}

// The other way round: writes what the functions above read.
class Bytes {
 public:
  explicit Bytes(std::mt19937_64& engine) : engine_(engine) {}

  // One of that many; of `few` half of the times.
  std::uint8_t put(std::uint64_t few, std::uint64_t most) {
    const auto value = static_cast<std::uint8_t>(engine_() % (engine_() % 2 == 0 ? few : most));
    bytes_ += static_cast<char>(value);
    return value;
  }
  void put_value() {
    const std::uint8_t which = put(160, 256);
    if (which < 160) return;
    for (int i = which % 4 == 0 ? 4 : 1; i > 0; --i)
      put(256, 256);
  }
  void put_row() {
    put(8, 256);
    put(4, 48);
  }
  [[nodiscard]] std::string take() && { return std::move(bytes_); }

 private:
  std::mt19937_64& engine_;
  std::string bytes_;
};

}  // namespace

std::string random_row_damage(std::mt19937_64& engine) {
  Bytes bytes(engine);
  const std::uint8_t how = bytes.put(150, 256);
  bytes.put(2, std::size(tables));
  if (how >= 230) {
    bytes.put(16, 16);  // what is dropped
    return std::move(bytes).take();
  }
  if (how < 150 || how >= 190) {
    bytes.put(4, 16);  // the column
    bytes.put_value();
  }
  bytes.put_row();
  return std::move(bytes).take();
}

std::string row_damage(Input& input) {
  const std::uint8_t how = input.byte();
  const Table& table = tables[input.byte() % std::size(tables)];
  const std::string name(table.name);
  if (how < 150) {
    const std::string_view column = table.columns[input.byte() % table.columns.size()];
    const std::string set = value(name, column, input);
    return "UPDATE " + name + " SET " + std::string(column) + " = " + set + row_of(table, input);
  }
  if (how < 190) return "DELETE FROM " + name + row_of(table, input);
  if (how < 230) return copy_of_row(table, input);
  return dropped(input);
}

}  // namespace wallock::fuzz
