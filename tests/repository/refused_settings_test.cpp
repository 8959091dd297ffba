// A SQLite that does not take a setting: what safety depends on is read back, not believed.
#include <optional>

#include "front_vfs.hpp"
#include "repository_support.hpp"

namespace wallock::test {
namespace {

// While it lives, one pragma is answered by the files of the databases that are opened, and
// changes nothing. One at a time; the databases are closed before it ends.
class OwnPragma {
 public:
  OwnPragma() { shared().usual = vfs_.usual(); }
  OwnPragma(const OwnPragma&) = delete;
  OwnPragma& operator=(const OwnPragma&) = delete;
  ~OwnPragma() { shared().name.clear(); }
  // Without an answer it gives no row.
  void set(std::string name, std::optional<std::string> answer) {
    shared().answer = std::move(answer);
    shared().name = std::move(name);
  }

 private:
  struct Shared {
    sqlite3_vfs* usual = nullptr;
    sqlite3_io_methods database{};  // the usual methods, with pragmas of its own
    int (*control)(sqlite3_file*, int, void*) = nullptr;
    std::string name;
    std::optional<std::string> answer;
  };
  static Shared& shared() {
    static Shared instance;
    return instance;
  }
  static int open(sqlite3_vfs* /*vfs*/, const char* name, sqlite3_file* file, int flags, int* out) {
    Shared& s = shared();
    const int result = s.usual->xOpen(s.usual, name, file, flags, out);
    if (result == SQLITE_OK && (flags & SQLITE_OPEN_MAIN_DB) != 0) {
      s.database = *file->pMethods;
      if (s.database.xFileControl != &OwnPragma::control) s.control = s.database.xFileControl;
      s.database.xFileControl = &OwnPragma::control;
      file->pMethods = &s.database;
    }
    return result;
  }
  static int control(sqlite3_file* file, int operation, void* argument) {
    const Shared& s = shared();
    if (operation != SQLITE_FCNTL_PRAGMA) return s.control(file, operation, argument);
    char** const words = static_cast<char**>(argument);  // the answer, the name, the new value
    if (s.name != words[1]) return s.control(file, operation, argument);
    words[0] = s.answer ? sqlite3_mprintf("%s", s.answer->c_str()) : nullptr;
    return SQLITE_OK;
  }

  FrontVfs vfs_{"wallock-test-own-pragma", &OwnPragma::open};
};

}  // namespace

TEST_CASE("a SQLite that does not take a setting that safety depends on opens no store") {
  const std::string name =
      GENERATE(as<std::string>(), "recursive_triggers", "cell_size_check", "temp_store",
               "secure_delete", "journal_size_limit", "synchronous", "journal_mode");
  const auto answer = GENERATE(std::optional<std::string>("7"), std::optional<std::string>());
  CAPTURE(name, answer.has_value());
  const TempStore at;
  OwnPragma pragma;
  pragma.set(name, answer);
  const auto refused = Coordinator::open(at.path(), at.options());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Errc::setting_refused);
  CHECK(refused.error().facts().field == name);
  pragma.set("", {});
  CHECK(test::answer(Coordinator::open(at.path(), at.options())) == "ok");
}

TEST_CASE("a SQLite that does not flush less or more when it is told to commits nothing") {
  const TempStore at;
  OwnPragma pragma;
  auto store = at.open();
  News news(store);
  pragma.set("synchronous", "7");
  CHECK(answer(store.execute("r", recorded("a"))) == "setting_refused");
  CHECK(news() == "-");
  pragma.set("", {});
  CHECK(answer(store.execute("r", recorded("a"))) == "ok");
}

}  // namespace wallock::test
