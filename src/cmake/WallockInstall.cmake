# Install rules: headers, library, CMake package, pkg-config file, SQL, licence.

include(CMakePackageConfigHelpers)
set(config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/wallock")

install(TARGETS wallock EXPORT wallockTargets FILE_SET HEADERS)
install(EXPORT wallockTargets NAMESPACE wallock:: DESTINATION "${config_dir}")

if(TARGET wallock_json)
  # In an export set of its own: the package loads it only where nlohmann_json is there.
  install(TARGETS wallock_json EXPORT wallockJsonTargets FILE_SET HEADERS)
  install(EXPORT wallockJsonTargets NAMESPACE wallock:: DESTINATION "${config_dir}")
endif()

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/src/cmake/wallockConfig.cmake.in"
  "${CMAKE_CURRENT_BINARY_DIR}/wallockConfig.cmake"
  INSTALL_DESTINATION "${config_dir}")
# While the major version is 0, a change of the minor one may break users.
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/wallockConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${CMAKE_CURRENT_BINARY_DIR}/wallockConfig.cmake"
  "${CMAKE_CURRENT_BINARY_DIR}/wallockConfigVersion.cmake"
  DESTINATION "${config_dir}")

# pkg-config. SQLiteCpp and tl-expected have no .pc file: the first is named as a library, the
# second is a header in the default include path. A static archive needs its libraries on every link
# line, also without --static, so they are public then; a shared one has brought them along.
if(wallock_type STREQUAL "SHARED_LIBRARY")
  set(WALLOCK_PC_REQUIRES "sqlite3")
  set(WALLOCK_PC_REQUIRES_PRIVATE "libcrypto fmt")
  set(WALLOCK_PC_LIBS "-lwallock -pthread")
else()
  set(WALLOCK_PC_REQUIRES "sqlite3 libcrypto fmt")
  set(WALLOCK_PC_REQUIRES_PRIVATE "")
  set(WALLOCK_PC_LIBS "-lwallock -lSQLiteCpp -pthread")
endif()
cmake_path(APPEND pc_libdir "\${prefix}" "${CMAKE_INSTALL_LIBDIR}")
cmake_path(APPEND pc_includedir "\${prefix}" "${CMAKE_INSTALL_INCLUDEDIR}")
file(RELATIVE_PATH WALLOCK_PC_UP
  "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" WALLOCK_PC_UP "${WALLOCK_PC_UP}")
configure_file("${PROJECT_SOURCE_DIR}/src/cmake/wallock.pc.in"
  "${CMAKE_CURRENT_BINARY_DIR}/wallock.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/wallock.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

install(FILES ${sql_files} DESTINATION "${CMAKE_INSTALL_DATADIR}/wallock/sql")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
