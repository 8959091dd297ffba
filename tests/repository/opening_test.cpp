// Opening: what is made of a new file, of an application's own, and of what is no store.
#include "repository_support.hpp"

namespace wallock::test {

TEST_CASE("a new file becomes a store with a ledger of one record") {
  TempStore at;
  auto store = at.open();
  const auto records = store.audit().value();
  REQUIRE(records.size() == 1);
  CHECK(records[0].entry().kind == RecordKind::genesis);
  CHECK(records[0].entry().detail.size() == 32);
  const auto health = store.health().value();
  CHECK(health.epoch == 1);
  CHECK(health.ledger_size == 1);
  CHECK(health.schema_version == 1);
  CHECK(health.has_boot_id);
  CHECK(health.durability == Durability::relaxed);
  CHECK(health.sqlite_version == sqlite3_libversion());
  auto raw = at.raw();
  CHECK(raw.integer("SELECT application_id FROM pragma_application_id") == 0x574C434B);
  CHECK(raw.text("PRAGMA user_version") == "1");
  CHECK(raw.text("PRAGMA journal_mode") == "wal");
  CHECK(raw.text("PRAGMA integrity_check") == "ok");
}

TEST_CASE("two stores have two identities, and one store keeps its own") {
  TempStore a;
  TempStore b;
  const auto genesis = [](TempStore& at) { return at.open().audit().value().front(); };
  const auto first = genesis(a);
  CHECK(first == genesis(a));
  CHECK(first.entry().detail != genesis(b).entry().detail);
}

TEST_CASE("an application's database keeps its numbers, its tables and its data") {
  TempStore at;
  {
    auto app = at.raw();
    app.must("PRAGMA application_id = 77; PRAGMA user_version = 5");
    app.must(
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, note); INSERT INTO orders VALUES (1, 'x')");
  }
  auto store = at.open();
  REQUIRE(answer(store.execute("r", recorded("a"))) == "ok");
  auto raw = at.raw();
  CHECK(raw.text("PRAGMA application_id") == "77");
  CHECK(raw.text("PRAGMA user_version") == "5");
  CHECK(raw.text("SELECT note FROM orders WHERE id = 1") == "x");
  CHECK(store.health().value().schema_version == 1);
}

TEST_CASE("either number of an application's own is enough to leave both alone") {
  const std::string pragma =
      GENERATE(as<std::string>(), "PRAGMA application_id = 77", "PRAGMA user_version = 5");
  TempStore at;
  at.raw().must(pragma);
  for (int i = 0; i < 2; ++i)
    CHECK(verdict(*std::make_unique<Coordinator>(at.open())) == "UNANCHORED");
  auto raw = at.raw();
  CHECK(raw.text("PRAGMA application_id") == (pragma.ends_with("77") ? "77" : "0"));
  CHECK(raw.text("PRAGMA user_version") == (pragma.ends_with("5") ? "5" : "0"));
}

TEST_CASE("a user_version that an application sets later is its own") {
  TempStore at;
  {
    auto store = at.open();
  }
  at.raw().must("PRAGMA user_version = 9");
  {
    auto store = at.open();
  }
  CHECK(at.raw().text("PRAGMA user_version") == "9");
}

TEST_CASE("opening again changes nothing") {
  TempStore at;
  {
    auto store = at.open();
  }
  const auto before = read_file(at.path());
  for (int i = 0; i < 3; ++i) {
    auto first = at.open();
    auto second = at.open();
    CHECK(first.root().value() == second.root().value());
  }
  CHECK((read_file(at.path()) == before));
}

TEST_CASE("a store of a newer version is refused and stays byte for byte the same") {
  TempStore at;
  {
    auto store = at.open();
  }
  {
    auto raw = at.raw();
    raw.must("UPDATE wallock_meta SET schema_version = 2, min_writer = 2");
    raw.must("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  const auto before = read_file(at.path());
  at.clock->reboot("boot-2");  // not even the epoch may be raised
  const auto refused = Coordinator::open(at.path(), at.options());
  CHECK(answer(refused) == "schema_too_new");
  CHECK(refused.error().facts().limit == 1);
  CHECK((read_file(at.path()) == before));
  at.raw().must("UPDATE wallock_meta SET min_writer = 1");
  CHECK(answer(Coordinator::open(at.path(), at.options())) == "ok");  // newer, but compatible
}

TEST_CASE("a file that is no database is refused and stays byte for byte the same") {
  TempStore at;
  std::string content(5000, 'x');
  SECTION("text") {}
  SECTION("short") { content = "hello"; }
  SECTION("a database's first page, spoiled") {
    {
      auto store = at.open();
    }
    content = read_file(at.path());
    content.replace(0, 6, "sqlite");
  }
  write_file(at.path(), content);
  CHECK(answer(Coordinator::open(at.path(), at.options())) == "not_a_store");
  CHECK((read_file(at.path()) == content));
}

TEST_CASE("an empty file becomes a store") {
  TempStore at;
  write_file(at.path(), "");
  CHECK(answer(Coordinator::open(at.path(), at.options())) == "ok");
}

TEST_CASE("a path that cannot be a store is refused with the right class") {
  TempStore at;
  const auto open = [&](std::string_view path) {
    return answer(Coordinator::open(path, at.options()));
  };
  CHECK(open("") == "invalid_option");
  CHECK(open(std::string_view("/tmp/a\0b", 8)) == "invalid_option");
  CHECK(open(at.folder.file("missing/store.db")) == "store_unavailable");
  CHECK(open(at.folder.path().string()) == "invalid_path");  // a folder
  const auto linked = at.folder.file("linked.db");
  REQUIRE(open(linked) == "ok");
  std::filesystem::create_hard_link(linked, at.folder.file("other-name.db"));
  CHECK(open(at.folder.file("other-name.db")) == "invalid_path");  // two logs for one file
  CHECK(open(linked) == "invalid_path");
  CHECK(open(at.path() + "/under-a-file") == "store_unavailable");
  auto options = at.options();
  options.operation_timeout = Duration::zero();
  CHECK(answer(Coordinator::open(at.path(), options)) == "invalid_duration");
  options = at.options();
  options.breaker.trip_after = 0;
  CHECK(answer(Coordinator::open(at.path(), options)) == "invalid_option");
  CHECK_FALSE(std::filesystem::exists(at.path()));
}

TEST_CASE("a store whose own tables are gone or spoiled is corrupt, not new") {
  TempStore at;
  {
    auto store = at.open();
  }
  const std::string sql = GENERATE(
      as<std::string>(), "DROP TRIGGER IF EXISTS wallock_meta_stays; DELETE FROM wallock_meta",
      "DROP TABLE wallock_meta; CREATE TABLE wallock_meta (x)");
  at.raw().must(sql);
  CHECK(answer(Coordinator::open(at.path(), at.options())) == "store_corrupt");
}

TEST_CASE("a store whose tables disappear under use says so") {
  TempStore at;
  auto store = at.open();
  const std::string table =
      GENERATE(as<std::string>(), "wallock_resources", "wallock_breakers", "wallock_meta",
               "wallock_lease_queue_events", "wallock_payloads", "wallock_deliveries");
  CAPTURE(table);
  at.raw().must("DROP TABLE " + table);
  CHECK(answer(store.execute("r", sent("a"))) == "store_corrupt");
  CHECK(answer(store.execute("r", sent("a"))) == "store_corrupt");
}

TEST_CASE("a store whose epoch disappears under use says so") {
  TempStore at;
  auto store = at.open();
  at.raw().must("DROP TRIGGER IF EXISTS wallock_meta_stays; DELETE FROM wallock_meta");
  CHECK(answer(store.execute("r", sent("a"))) == "store_corrupt");
  CHECK(answer(store.health()) == "ledger_damaged");
  CHECK(answer(store.leases()) == "ledger_damaged");
}

}  // namespace wallock::test
