// What an error of the store shows: names that the caller gave, numbers, and nothing else.
#include "repository_support.hpp"
#include "wallock/sqlite.hpp"

namespace wallock::test {

TEST_CASE("INV-09 no error of the store shows SQL or payload") {
  TempStore at;
  auto options = quick_to_trip(at.options());
  options.operation_timeout = 1ms;
  auto store = at.open(options);
  auto raw = at.raw();
  raw.must(
      "CREATE TABLE app (note UNIQUE CHECK (note <> 'hunter3')); "
      "INSERT INTO app VALUES ('hunter2')");
  const auto lease = store.acquire("r", by("ann")).value();
  REQUIRE(answer(store.execute("s", sent("taken", "hunter2"))) == "ok");
  std::vector<Error> errors;
  const auto note = [&](const auto& result) {
    REQUIRE_FALSE(result);
    errors.push_back(result.error());
  };
  const auto working = [](const std::string& sql) -> Work {
    return [sql](Transaction& transaction) { database(transaction).exec(sql); };
  };
  for (const char* sql :
       {"INSERT INTO app VALUES ('hunter2')", "INSERT INTO app VALUES ('hunter3')",
        "SELECT hunter2", "SELECT * FROM wallock_payloads WHERE payload = 'hunter2'", "COMMIT",
        "INSERT OR ROLLBACK INTO app VALUES ('hunter2')", "SELECT hunter2 FROM",
        "ATTACH 'hunter2' "
        "AS x"}) {
    note(store.commit(lease, sent("a", "hunter2"), working(sql)));
    note(store.execute("t", sent("a", "hunter2"), working(sql)));
  }
  note(store.commit(lease, sent("a", "hunter2"), [] { throw std::runtime_error("hunter2"); }));
  note(store.commit(lease, sent("taken", "hunter3")));
  note(store.execute("s", {sent("taken", "hunter2"), sent("new", "hunter2")}));
  note(store.commit(lease, sent("a", "hunter2" + std::string(300'000, 'x'))));
  raw.must("BEGIN IMMEDIATE");
  note(store.commit(lease, sent("a", "hunter2")));
  raw.must("ROLLBACK; DROP TABLE wallock_payloads");
  note(store.commit(lease, sent("a", "hunter2")));
  note(Coordinator::open(at.folder.file("missing/store.db"), options));
  for (const Error& error : errors) {
    const std::string words = to_string(error);
    CAPTURE(words);
    for (const char* forbidden : {"hunter", "SELECT", "INSERT", "app", "UNIQUE", "CHECK",
                                  "constraint", "syntax", "no such", "/store.db", "prepare"})
      CHECK(words.find(forbidden) == std::string::npos);
  }
}

}  // namespace wallock::test
