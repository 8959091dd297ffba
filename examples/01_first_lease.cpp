// The shortest program: take a lease, change the application's data under it, give it back.
#include <cstdio>

#include "wallock/sqlite.hpp"
#include "wallock/wallock.hpp"

namespace {

int complain(const wallock::Error& error) {
  std::fprintf(stderr, "%s\n", to_string(error).c_str());
  return 1;
}

// The application's own SQL. It runs inside the commit: both are stored, or neither.
void pay(wallock::Transaction& transaction) {
  SQLite::Database& database = wallock::database(transaction);
  database.exec("CREATE TABLE IF NOT EXISTS account (name TEXT PRIMARY KEY, cents INTEGER)");
  database.exec(
      "INSERT INTO account VALUES ('alice', 500) "
      "ON CONFLICT DO UPDATE SET cents = cents + 500");
}

}  // namespace

int main() {
  auto coordinator = wallock::Coordinator::open("shop.db");
  if (!coordinator) return complain(coordinator.error());

  auto lease = coordinator->acquire("account/alice", {.wait = std::chrono::seconds(2)});
  if (!lease) return complain(lease.error());
  std::printf("holding account/alice under token %s\n", to_string(lease->token()).c_str());

  auto done = coordinator->commit(*lease, {{.id = "pay-17", .payload = R"({"cents":500})"}}, pay);
  if (!done) return complain(done.error());  // stale_token: somebody else has the account by now
  std::printf("committed %s\n", to_string(done->results().front()).c_str());

  auto released = coordinator->release(*lease);
  if (!released) return complain(released.error());
  std::printf("%s\n", std::string(to_string(*released)).c_str());
  return *released == wallock::ReleaseEffect::released ? 0 : 1;
}
