// Work that forks: whatever the child does, the transaction is its parent's (case L31).
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#include "fork.hpp"
#include "repository_support.hpp"
#include "wallock/lease_guard.hpp"
#include "wallock/sqlite.hpp"

namespace wallock::test {
namespace {

enum class End : std::uint8_t { returns, fails, throws };

// Work that forks. The child waits for a byte on the pipe, then ends the work.
class ForkingWork {
 public:
  explicit ForkingWork(End end) : end_(end) { REQUIRE(pipe(ends_) == 0); }
  ForkingWork(const ForkingWork&) = delete;
  ForkingWork& operator=(const ForkingWork&) = delete;
  ~ForkingWork() {
    close(ends_[0]);
    close(ends_[1]);
  }

  [[nodiscard]] Work work() {
    return [this](Transaction& transaction) -> Status {
      database(transaction).exec("INSERT INTO app VALUES ('forking')");
      child_ = fork();
      if (child_ != 0) return {};
      char byte = 0;
      static_cast<void>(read(ends_[0], &byte, 1));
      if (end_ == End::throws) throw std::runtime_error("in the child");
      if (end_ == End::fails) return fail(Errc::work_failed);
      return {};
    };
  }
  // The child's answer is its exit status.
  template <class T>
  void end_child(const Result<T>& answer) const {
    if (child_ == 0) exit_child(!answer && answer.error().code() == Errc::forked_handle ? 0 : 1);
  }
  // Lets the child go on to its end.
  [[nodiscard]] int child_status() const {
    int status = -1;
    if (write(ends_[1], "x", 1) != 1 || waitpid(child_, &status, 0) != child_) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  const End end_;
  int ends_[2]{};
  pid_t child_ = -1;
};

}  // namespace

TEST_CASE("a child that comes back from its parent's work commits nothing and undoes nothing") {
  const End end = GENERATE(End::returns, End::fails, End::throws);
  const bool shares = GENERATE(true, false);
  CAPTURE(static_cast<int>(end), shares);
  TempStore at;
  auto options = at.options();
  options.share_flushes = shares;
  auto store = at.open(options);
  auto raw = at.raw();
  raw.must("CREATE TABLE app (word TEXT)");
  ForkingWork forking(end);
  const auto done = store.execute("r", recorded("a"), forking.work());
  forking.end_child(done);
  CHECK(answer(done) == "ok");
  for (const char* id : {"b", "c", "d"})
    CHECK(answer(store.execute("r", recorded(id))) == "ok");
  CHECK(forking.child_status() == 0);
  CHECK(answer(store.execute("r", recorded("e"))) == "ok");
  CHECK(raw.integer("SELECT count(*) FROM app") == 1);
  CHECK(raw.integer("SELECT count(*) FROM wallock_lease_queue_events WHERE kind = 20") == 5);
  CHECK(raw.text("PRAGMA integrity_check") == "ok");
  CHECK(verdict(store) == "UNANCHORED");
}

TEST_CASE("a child that comes back from its parent's work leaves the parent's pages alone") {
  TempStore at;
  auto store = at.open();
  auto raw = at.raw();
  raw.must("CREATE TABLE app (word TEXT)");
  pid_t child = -1;
  int status = -1;
  // More than the connection keeps in memory: the log has pages of a commit that is not there yet.
  const auto done = store.execute("r", recorded("a"), [&](Transaction& transaction) -> Status {
    SQLite::Database& db = database(transaction);
    db.exec(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
        "INSERT INTO app SELECT printf('%3000d', i) FROM n");
    child = fork();
    if (child == 0) return {};
    if (waitpid(child, &status, 0) != child) return fail(Errc::work_failed);
    db.exec("UPDATE app SET word = word || 'x'");
    return {};
  });
  if (child == 0) exit_child(!done && done.error().code() == Errc::forked_handle ? 0 : 1);
  CHECK(status == 0);
  CHECK(answer(done) == "ok");
  CHECK(raw.text("PRAGMA integrity_check") == "ok");
  CHECK(raw.integer("SELECT count(*) FROM app WHERE word = printf('%3000d', rowid) || 'x'") ==
        5000);
  CHECK(verdict(store) == "UNANCHORED");
}

TEST_CASE("a guard whose commit's work forks goes on in the parent, and is lost in the child") {
  TempStore at;
  auto store = at.open();
  auto raw = at.raw();
  raw.must("CREATE TABLE app (word TEXT)");
  auto guard = store.guard("r").value();
  ForkingWork forking(End::returns);
  const auto done = guard.commit(recorded("a"), forking.work());
  forking.end_child(done);
  CHECK(answer(done) == "ok");
  CHECK(answer(guard.commit(recorded("b"))) == "ok");
  CHECK(forking.child_status() == 0);
  CHECK(guard.valid());
  CHECK(answer(guard.commit(recorded("c"))) == "ok");
  CHECK(guard.release());
  CHECK(verdict(store) == "UNANCHORED");
}

}  // namespace wallock::test
