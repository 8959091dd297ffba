// A user's program: it must compile, link and run against wallock however it was brought in.
#include <cstdio>
#include <string>

#include <wallock/lease_guard.hpp>
#include <wallock/sqlite.hpp>
#include <wallock/wallock.hpp>

namespace {

int failed(const char* what, const wallock::Error& error) {
  std::printf("%s: %s\n", what, to_string(error).c_str());
  return 1;
}

void create_table(wallock::Transaction& transaction) {
  wallock::database(transaction).exec("CREATE TABLE notes (token INTEGER)");
}

// Goes through everything that a shared library has to give out.
int use(const std::string& path) {
  auto store = wallock::Coordinator::open(path);
  if (!store) return failed("open", store.error());
  auto lease = store->acquire("resource");
  if (!lease) return failed("acquire", lease.error());
  auto done = store->commit(*lease, {{.id = "first", .payload = "note"}}, create_table);
  if (!done) return failed("commit", done.error());
  auto released = store->release(*lease);
  if (!released) return failed("release", released.error());
  auto guard = store->guard("resource");
  if (!guard) return failed("guard", guard.error());
  if (guard->token() <= lease->token()) return std::puts("a token went back"), 1;
  auto head = store->root();
  if (!head) return failed("root", head.error());
  auto report = store->verify(*head);
  if (!report) return failed("verify", report.error());
  return report->verdict == wallock::VerifyVerdict::anchored ? 0 : 1;
}

}  // namespace

int main() {
  if (wallock::library_version() != wallock::version) {
    std::puts("the library is not the one that the headers belong to");
    return 1;
  }
  const std::string path = "consumer.db";
  for (const char* end : {"", "-wal", "-shm", "-wallock"})
    std::remove((path + end).c_str());
  const int result = use(path);
  if (result == 0) std::printf("wallock %s\n", WALLOCK_VERSION_STRING);
  return result;
}
