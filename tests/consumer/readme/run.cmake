# Runs README.md's program twice: the second time the balance must stay where it was.
# cmake -DAPP= -DPYTHON= -P run.cmake

set(query "SELECT cents FROM balance")
set(ask "import sqlite3; print(sqlite3.connect('payments.db').execute('${query}').fetchall())")

file(REMOVE payments.db payments.db-wal payments.db-shm payments.db-wallock)
foreach(time RANGE 1)
  execute_process(COMMAND "${APP}" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${PYTHON}" -c "${ask}"
    OUTPUT_VARIABLE rows OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  if(NOT rows STREQUAL "[(-995,)]")
    message(FATAL_ERROR "the balance is ${rows}")
  endif()
endforeach()
