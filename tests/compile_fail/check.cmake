# Shows that a file compiles, and that it does not once WALLOCK_MISUSE is defined.
# cmake -DCXX= -DFLAGS= -DINCLUDES=<dir;dir> -DFILE= -DEXPECT=<regex> -P check.cmake

separate_arguments(flags UNIX_COMMAND "${FLAGS}")
list(REMOVE_DUPLICATES INCLUDES)
list(TRANSFORM INCLUDES PREPEND "-I")
set(compile "${CXX}" -std=c++20 ${flags} -fsyntax-only ${INCLUDES})

execute_process(COMMAND ${compile} "${FILE}" RESULT_VARIABLE legal ERROR_VARIABLE legal_errors)
if(NOT legal EQUAL 0)
  message(FATAL_ERROR "the legal twin does not compile:\n${legal_errors}")
endif()

execute_process(COMMAND ${compile} -DWALLOCK_MISUSE "${FILE}"
  RESULT_VARIABLE misuse ERROR_VARIABLE misuse_errors)
if(misuse EQUAL 0)
  message(FATAL_ERROR "the misuse compiles")
endif()
# The right refusal, and not a misspelt name or a missing header.
if(NOT misuse_errors MATCHES "${EXPECT}")
  message(FATAL_ERROR "the misuse is refused, but not for \"${EXPECT}\":\n${misuse_errors}")
endif()
