# Finds what the library is built on. The same packages are asked for again, by the same names, in
# wallockConfig.cmake.in for those who use the installed library.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(SQLite3 3.37 REQUIRED)
find_package(SQLiteCpp CONFIG REQUIRED)
find_package(OpenSSL 3.0 REQUIRED COMPONENTS Crypto)
find_package(fmt CONFIG REQUIRED)
find_package(tl-expected CONFIG REQUIRED)
# Only wallock/json.hpp needs it: without it there is no target wallock::json, and that is all.
find_package(nlohmann_json 3.11 CONFIG QUIET)

# CMake 4.3 renamed SQLite's target; the rest of the build knows one name.
if(NOT TARGET SQLite::SQLite3 AND TARGET SQLite3::SQLite3)
  add_library(SQLite::SQLite3 ALIAS SQLite3::SQLite3)
endif()

# The name has no "::", so CMake would take a missing target for a library file, -lSQLiteCpp.
if(NOT TARGET SQLiteCpp)
  message(FATAL_ERROR "The package SQLiteCpp does not define the target SQLiteCpp.")
endif()
