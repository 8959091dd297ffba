# A user without CMake: asks pkg-config for the flags and calls the compiler.
# cmake -DPREFIX= -DLIBDIR= -DCXX= -DFLAGS= -DMAIN= -DSCRATCH= -P build.cmake

set(ENV{PKG_CONFIG_PATH} "${PREFIX}/${LIBDIR}/pkgconfig")
execute_process(COMMAND pkg-config --cflags --libs wallock
  OUTPUT_VARIABLE arguments OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(arguments UNIX_COMMAND "${arguments}")
separate_arguments(flags UNIX_COMMAND "${FLAGS}")

file(REMOVE_RECURSE "${SCRATCH}")
file(MAKE_DIRECTORY "${SCRATCH}")
execute_process(COMMAND "${CXX}" -std=c++20 ${flags} "${MAIN}" -o "${SCRATCH}/consumer" ${arguments}
  "-Wl,-rpath,${PREFIX}/${LIBDIR}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${SCRATCH}/consumer" WORKING_DIRECTORY "${SCRATCH}"
  COMMAND_ERROR_IS_FATAL ANY)
