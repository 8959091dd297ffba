# cmake -DPROGRAM=<program> -DSCRATCH=<folder> -P RunInEmptyFolder.cmake
# Empties the folder and runs the program in it; fails as the program fails.

file(REMOVE_RECURSE "${SCRATCH}")
file(MAKE_DIRECTORY "${SCRATCH}")
execute_process(COMMAND "${PROGRAM}" WORKING_DIRECTORY "${SCRATCH}" RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ended with ${result}")
endif()
