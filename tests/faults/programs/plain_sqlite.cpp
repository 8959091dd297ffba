// Somebody else's SQLite on a database, in a process of its own and with SQLite's own settings:
// runs each line of its input as SQL, and answers "ok" or SQLite's words, one line for each.
//     plain_sqlite PATH
#include <sqlite3.h>

#include <cstdio>
#include <iostream>
#include <string>

int main(int argc, char** argv) {
  sqlite3* db = nullptr;
  if (argc < 2 || sqlite3_open(argv[1], &db) != SQLITE_OK) return 1;
  for (std::string line; std::getline(std::cin, line);) {
    char* message = nullptr;
    const int result = sqlite3_exec(db, line.c_str(), nullptr, nullptr, &message);
    std::cout << (result == SQLITE_OK ? "ok" : message != nullptr ? message : "error") << std::endl;
    sqlite3_free(message);
  }
  return sqlite3_close(db) == SQLITE_OK ? 0 : 1;
}
