# SPDX-License-Identifier: Apache-2.0
# The parts that only a wheel has: the command that pip puts into the environment's bin/, and manual pages
# where `man` looks for them. Everything else is installed as usual, into the package's folder
# site-packages/penstock. scikit-build-core runs CMake and sets the SKBUILD_ variables; see pyproject.toml
# and scripts/build_wheel.sh.
option(PENSTOCK_WHEEL "Being built into a wheel" OFF)
if(NOT PENSTOCK_WHEEL)
  return()
endif()
add_executable(penstock_launcher ${PROJECT_SOURCE_DIR}/python/launcher.c)
set_target_properties(penstock_launcher PROPERTIES OUTPUT_NAME penstock
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/launcher)
target_compile_definitions(penstock_launcher PRIVATE PENSTOCK_VERSION="${PROJECT_VERSION}" _GNU_SOURCE)
target_link_libraries(penstock_launcher PRIVATE penstock_flags)
add_dependencies(penstock_programs penstock_launcher)
install(TARGETS penstock_launcher RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR})
file(WRITE ${CMAKE_BINARY_DIR}/VERSION-${PROJECT_VERSION} "")
install(FILES ${CMAKE_BINARY_DIR}/VERSION-${PROJECT_VERSION} DESTINATION .)
set(CMAKE_INSTALL_MANDIR ${SKBUILD_DATA_DIR}/share/man)
