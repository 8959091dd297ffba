"""For each check of tidy.py: a file that violates it and one that does not.

A case is named after its check; a suffix behind a colon tells several cases of one check apart.
"""

HEAD = "// A planted file for the self-test.\n#pragma once\n"


def header(path, line):
    return "include/wallock/" + path, HEAD + line + "\n"


def include(path, name):
    return path, f'{HEAD}#include "{name}"\n'


def function(statements):
    body = "  g();\n" * statements
    return "src/host/a.cpp", "void f(int a = 0,\n  int b = {}) {\n" + body + "}\n"


CASES = {
    "layers:values": (
        include("include/wallock/token.hpp", "wallock/rules/commit.hpp"),
        include("include/wallock/rules/commit.hpp", "wallock/token.hpp")),
    "layers:rules": (include("include/wallock/rules/commit.hpp", "wallock/lease_repository.hpp"),
                     include("include/wallock/lease_repository.hpp", "wallock/rules/commit.hpp")),
    "layers:repository": (
        include("include/wallock/lease_repository.hpp", "wallock/coordinator.hpp"),
        include("include/wallock/coordinator.hpp", "wallock/lease_repository.hpp")),
    "layers:umbrella": (include("include/wallock/wallock.hpp", "wallock/json.hpp"),
                        include("include/wallock/wallock.hpp", "wallock/coordinator.hpp")),
    "layers:private": (include("include/wallock/coordinator.hpp", "sqlite/connection.hpp"),
                       include("src/coordinator/coordinator.hpp", "sqlite/connection.hpp")),
    "layers:floors": (include("src/sqlite/connection.hpp", "coordinator/queue.hpp"),
                      include("src/sqlite/connection.hpp", "host/clock.hpp")),
    "layers:host": (include("src/host/clock.cpp", "sqlite/connection.hpp"),
                    include("src/host/clock.cpp", "host/clock.hpp")),
    "layers:facade": (include("src/ledger/verify.cpp", "wallock/coordinator.hpp"),
                      include("src/ledger/verify.cpp", "wallock/token.hpp")),
    "layers:sqlite": (include("src/coordinator/queue.cpp", "sqlite3.h"),
                      include("src/sqlite/connection.cpp", "sqlite3.h")),
    "layers:sqlitecpp": (include("include/wallock/token.hpp", "SQLiteCpp/SQLiteCpp.h"),
                         include("include/wallock/sqlite.hpp", "SQLiteCpp/SQLiteCpp.h")),
    "layers:examples": (include("examples/a.cpp", "sqlite3.h"),
                        include("examples/a.cpp", "SQLiteCpp/Database.h")),
    "layers:openssl": (include("src/sqlite/connection.cpp", "openssl/evp.h"),
                       include("src/ledger/sha256.cpp", "openssl/evp.h")),
    "layers:json": (include("include/wallock/token.hpp", "nlohmann/json.hpp"),
                    include("include/wallock/json/read.hpp", "nlohmann/json.hpp")),
    "layers:heavy": (include("include/wallock/token.hpp", "iostream"),
                     include("src/host/a.cpp", "filesystem")),
    "layers:fmt": (include("include/wallock/token.hpp", "fmt/core.h"),
                   include("src/host/a.cpp", "fmt/core.h")),
    "file_length": (("src/host/a.cpp", "int a;\n" * 401), ("src/host/a.cpp", "int a;\n" * 400)),
    "function_length": (function(68), function(67)),
    "function_length:excused": (
        ("src/a.cpp", "// length-ok\n" + function(68)[1]),
        ("src/a.cpp", "// length-ok: one row per code\n" + function(68)[1])),
    "function_length:member": (
        ("src/a.cpp", "class A {\n public:\n  A() : b_{1} {\n" + "    g();\n" * 70 + "  }\n};\n"),
        ("src/a.cpp", "class A {\n public:\n" + "  void g();\n" * 80 + "};\n")),
    "line_length": (("src/a.sql", "x" * 101 + "\n"), ("src/a.sql", "x" * 100 + "\n")),
    "banned:namespace": (("tests/a.cpp", "using namespace std;\n"),
                         ("tests/a.cpp", "using namespace std_like; // using namespace std\n")),
    "banned:header_info": (("src/sqlite/a.cpp", "SQLite::Database::getHeaderInfo(f);\n"),
                           ("src/sqlite/a.cpp", 'g("getHeaderInfo");\n')),
    "banned:unencrypted": (("src/sqlite/a.cpp", "SQLite::Database::isUnencrypted(f);\n"),
                           ("src/sqlite/a.cpp", "// isUnencrypted drops locks\n")),
    "banned:savepoint": (("src/sqlite/a.cpp", "SQLite::Savepoint s(db);\n"),
                         ("src/sqlite/a.cpp", "Savepoint s(db);\n")),
    "banned:clock": (("src/sqlite/a.cpp", "auto t = std::chrono::system_clock::now();\n"),
                     ("src/host/a.cpp", "auto t = std::chrono::system_clock::now();\n")),
    "banned:sleep": (("src/coordinator/a.cpp", "std::this_thread::sleep_for(1s);\n"),
                     ("src/host/a.cpp", "std::this_thread::sleep_for(1s);\n")),
    "floats": (header("a.hpp", "double score;"),
               header("a.hpp", "int doubled;  // not a double")),
    "floats:excused": (header("a.hpp", "// float-ok:\ndouble d;"),
                       header("a.hpp", "double d;  // float-ok: a ratio for people to read")),
    "floats:sqlite": (("src/sqlite/a.cpp", "sqlite3_column_double(s, 0);\n"),
                      ("src/sqlite/a.cpp", "sqlite3_column_int64(s, 0);\n")),
    "white_space": (("docs/a.md", "text \n"), ("docs/a.md", "text\n")),
    "white_space:tab": (("src/a.sql", "\tselect 1;\n"), ("src/a.sql", "  select 1;\n")),
    "unfinished": (("src/a.cpp", "// TO" + "DO later\n"),
                   ("src/a.cpp", "// what is to do later\n")),
    "header_start:comment": (("src/host/a.hpp", "#pragma once\n"), ("src/host/a.hpp", HEAD)),
    "header_start:once": (("src/host/a.hpp", "// A planted file for the test.\n"),
                          ("src/host/a.cpp", "int a;\n")),
}
