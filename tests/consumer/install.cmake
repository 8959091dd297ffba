# Installs a build tree into an empty prefix. cmake -DBUILD= -DPREFIX= -P install.cmake
# The prefix is emptied first: a file that is no longer installed must be missed by the consumers.

file(REMOVE_RECURSE "${PREFIX}")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${PREFIX}"
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
