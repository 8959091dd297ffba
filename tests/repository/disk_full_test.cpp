// A full disk: a typed error, the state before the call, and work that resumes by itself.
#include <sys/mount.h>

#include <cstdio>

#include "repository_support.hpp"
#include "wallock/sqlite.hpp"

namespace wallock::test {
namespace {

// A file system in memory with room for a few hundred pages; needs the right to mount.
class SmallDisk {
 public:
  SmallDisk() : mounted_(mount("tmpfs", path().c_str(), "tmpfs", 0, "size=4m") == 0) {}
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (mounted_) umount2(path().c_str(), MNT_DETACH);
  }
  [[nodiscard]] bool mounted() const { return mounted_; }
  [[nodiscard]] std::string path() const { return folder_.path().string(); }

  void fill(std::size_t leave) const {
    const auto space = std::filesystem::space(path()).available;
    if (space > leave) write_file(path() + "/ballast", std::string(space - leave, 'x'));
  }
  void free() const { std::filesystem::remove(path() + "/ballast"); }

 private:
  TempFolder folder_;
  bool mounted_;
};

}  // namespace

TEST_CASE("a full disk is disk_full, changes nothing, and is over when there is room") {
  const SmallDisk disk;
  if (!disk.mounted()) {
    std::puts("not run: a full disk (this process may not mount one)");
    return;
  }
  TempStore at;
  auto store = Coordinator::open(disk.path() + "/store.db", at.options()).value();
  RawDatabase raw(disk.path() + "/store.db");
  raw.must("CREATE TABLE app (note)");
  const auto lease = store.acquire("r", by("ann", 1h)).value();
  News news(store);
  disk.fill(16 * 1024);

  const std::string large(200 * 1024, 'x');
  for (int i = 0; i < 3; ++i) {
    CHECK(answer(store.commit(lease, sent("a", large))) == "disk_full");
    CHECK(answer(store.execute("s", sent("a", large))) == "disk_full");
  }
  // In the middle of the work: more than SQLite keeps in memory before it writes.
  const auto gushing = [](Transaction& transaction) {
    for (int i = 0; i < 20; ++i)
      database(transaction).exec("INSERT INTO app VALUES (zeroblob(1000000))");
  };
  const auto inside = store.commit(lease, sent("a"), gushing);
  CHECK(answer(inside) == "disk_full");
  CHECK(news() == "-");
  CHECK(raw.integer("SELECT count(*) FROM app") == 0);
  CHECK(store.leases().value().size() == 1);

  disk.free();
  CHECK(answer(store.commit(lease, sent("a", large), [](Transaction& transaction) {
          database(transaction).exec("INSERT INTO app VALUES (1)");
        })) == "ok");
  CHECK(news() == "action_recorded");
  CHECK(raw.integer("SELECT count(*) FROM app") == 1);
  CHECK(verdict(store) == "UNANCHORED");
}

TEST_CASE("a store is not made on a full disk, and is made later") {
  const SmallDisk disk;
  if (!disk.mounted()) {
    std::puts("not run: a full disk (this process may not mount one)");
    return;
  }
  TempStore at;
  disk.fill(0);
  const auto path = disk.path() + "/store.db";
  const auto refused = Coordinator::open(path, at.options());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().error_class() == ErrorClass::transient);
  disk.free();
  CHECK(answer(Coordinator::open(path, at.options())) == "ok");
}

}  // namespace wallock::test
