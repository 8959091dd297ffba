// The place where a store lies: read-only, out of room, its files moved away. A typed error,
// nothing half-done, and work resumes by itself, or by opening again, when the cause is gone.
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "catch.hpp"
#include "sqlite/invariants.hpp"
#include "temp_store.hpp"

namespace wallock::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::string_view answer(const auto& result) {
  return result ? "ok" : to_string(result.error().code());
}

Result<Committed> write(Coordinator& store, std::string_view id, std::size_t bytes = 10) {
  return store.execute("r", ActionFields{.id = id, .payload = std::string(bytes, 'p')});
}

std::string state_of(Coordinator& store) { return to_string(store.root().value().root); }

void check_sound(const std::string& path) {
  const auto found = sqlite::check_invariants(path);
  REQUIRE(found);
  CHECK(found->empty());
  CHECK(RawDatabase(path).text("PRAGMA integrity_check") == "ok");
}

// A folder that can be made read-only: a file system of its own where this process may mount one,
// else by its mode and, for who may ignore modes, under another user.
class Place {
 public:
  Place() : mounted_(mount("tmpfs", path().c_str(), "tmpfs", 0, "size=16m") == 0) {
    if (!mounted_) std::puts("read-only by mode: this process may not mount");
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() {
    if (mounted_) {
      umount2(path().c_str(), MNT_DETACH);
    } else {
      set_writable(true);
    }
  }
  [[nodiscard]] std::string path() const { return folder_.path().string(); }

  void set_writable(bool writable) {
    if (mounted_) {
      const unsigned long flags = writable ? MS_REMOUNT : MS_REMOUNT | MS_RDONLY;
      REQUIRE(mount("tmpfs", path().c_str(), "tmpfs", flags, nullptr) == 0);
      return;
    }
    constexpr auto all_may_write = fs::perms::group_write | fs::perms::others_write;
    constexpr auto writing = all_may_write | fs::perms::owner_write;
    constexpr uid_t nobody = 65534;
    if (geteuid() == nobody) REQUIRE(seteuid(0) == 0);
    for (const auto& entry : fs::directory_iterator(path()))
      fs::permissions(entry, writing, writable ? fs::perm_options::add : fs::perm_options::remove);
    fs::permissions(path(), writable ? fs::perms::all : fs::perms::all & ~writing);
    if (!writable && geteuid() == 0) REQUIRE(seteuid(nobody) == 0);
  }

 private:
  TempFolder folder_;
  bool mounted_;
};

// Files of this process may not become longer than so.
class Lid {
 public:
  explicit Lid(std::uintmax_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit now = before_;
    now.rlim_cur = bytes;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &now) == 0);
  }
  Lid(const Lid&) = delete;
  Lid& operator=(const Lid&) = delete;
  ~Lid() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

}  // namespace

TEST_CASE("a read-only place makes no store and opens none, until it can be written", "[place]") {
  Place place;
  const TempStore at;
  const std::string path = place.path() + "/store.db";
  const auto open = [&] { return Coordinator::open(path, at.options()); };
  place.set_writable(false);
  CHECK(answer(open()) == "store_unavailable");
  place.set_writable(true);
  CHECK_FALSE(fs::exists(path));
  {
    auto store = open().value();
    CHECK(answer(write(store, "a")) == "ok");
  }
  const std::string before = read_file(path);
  place.set_writable(false);
  for (int i = 0; i < 2; ++i) {
    const auto refused = open();
    CHECK(answer(refused) == "store_unavailable");
    CHECK(refused.error().error_class() == ErrorClass::transient);
  }
  place.set_writable(true);
  CHECK((read_file(path) == before));
  auto store = open().value();
  CHECK(answer(write(store, "b")) == "ok");
  check_sound(path);
}

TEST_CASE("a log that may not grow fails commits whole, and lets them pass when it may",
          "[place]") {
  TempStore at;
  auto options = at.options();
  options.durability = GENERATE(Durability::every_answer, Durability::relaxed);
  auto store = at.open(options);
  const auto lease = store.acquire("r2", {.ttl = 1h}).value();
  REQUIRE(answer(write(store, "a")) == "ok");
  const std::string before = state_of(store);
  // In the middle of a page of the log: half a frame is written.
  const std::uintmax_t lengths[] = {fs::file_size(at.path() + "-wal"),
                                    fs::file_size(at.path() + "-wal") + 2000};
  for (const std::uintmax_t length : lengths) {
    const Lid lid(length);
    for (int i = 0; i < 2; ++i) {
      const auto refused = write(store, "b", 100'000);
      REQUIRE_FALSE(refused);
      CHECK(refused.error().error_class() == ErrorClass::transient);
      CHECK(refused.error().code() != Errc::outcome_unknown);
      CHECK(answer(store.release(lease)) != "ok");
    }
    CHECK(state_of(store) == before);
    CHECK(store.leases().value().size() == 1);
  }
  CHECK(answer(write(store, "b", 100'000)) == "ok");
  CHECK(answer(store.release(lease)) == "ok");
  check_sound(at.path());
}

TEST_CASE("a store that was moved away under use has all that was answered where it is",
          "[place]") {
  TempStore at;
  const std::string moved = at.folder.file("moved.db");
  auto store = at.open();
  REQUIRE(answer(write(store, "a")) == "ok");
  at.clock->advance(1s);
  const auto move = [](const std::string& from, const std::string& to) {
    for (const char* const end : {"", "-wal", "-shm"})
      fs::rename(from + end, to + end);
  };
  move(at.path(), moved);
  CHECK(answer(write(store, "b")) == "store_replaced");
  SECTION("moved back, it stays given up until it is opened again") {
    move(moved, at.path());
    at.clock->advance(1s);
    CHECK(answer(write(store, "b")) == "store_replaced");
    auto again = at.open();
    CHECK(again.audit().value().size() == 4);
    CHECK(answer(write(again, "b")) == "ok");
    check_sound(at.path());
  }
  SECTION("opened under the new name") {
    {
      auto again = Coordinator::open(moved, at.options()).value();
      CHECK(again.audit().value().size() == 4);
      CHECK(answer(write(again, "b")) == "ok");
    }
    check_sound(moved);
  }
  SECTION("in its place a new store begins, and the old opening does not touch it") {
    auto fresh = at.open();
    CHECK(answer(write(fresh, "a")) == "ok");
    at.clock->advance(1s);
    CHECK(answer(write(store, "b")) == "store_replaced");
    CHECK(answer(write(fresh, "b")) == "ok");
    check_sound(at.path());
  }
}

}  // namespace wallock::test
