# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` and CPack make in addition to the programs: the CMake package for other projects,
# manual pages, completions, the Debian package and the relocatable archive.
#
#   bin/                      penstock, penstock-*
#   lib/penstock/             the agent and its Python half: programs find them relative to bin/, so the
#                             tree can be moved
#                             libpenstock_loader.so, libpenstock_trace.so and python/: the Python package,
#                             PYTHONPATH=PREFIX/lib/penstock/python
#   lib/cmake/Penstock/       find_package(Penstock): Penstock::traces, Penstock::markers
#   include/penstock/traces/  the headers of these two libraries
include(CMakePackageConfigHelpers)

set(PENSTOCK_INSTALL_PACKAGE ${CMAKE_INSTALL_LIBDIR}/cmake/Penstock)

# Inside this tree penstock_traces has our warnings and our source folder as include folder. Other projects
# get neither: what is exported has an include folder of its own.
add_library(penstock_markers INTERFACE)
target_include_directories(penstock_markers INTERFACE $<INSTALL_INTERFACE:include>)
target_link_libraries(penstock_markers INTERFACE ${CMAKE_DL_LIBS})
set_target_properties(penstock_markers PROPERTIES EXPORT_NAME markers)
set_target_properties(penstock_traces PROPERTIES EXPORT_NAME traces)
target_compile_features(penstock_traces PUBLIC cxx_std_20)
install(TARGETS penstock_traces penstock_markers EXPORT PenstockTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION include/penstock)
install(EXPORT PenstockTargets NAMESPACE Penstock:: DESTINATION ${PENSTOCK_INSTALL_PACKAGE})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/PenstockConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/PenstockConfig.cmake INSTALL_DESTINATION ${PENSTOCK_INSTALL_PACKAGE})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/PenstockConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/PenstockConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/PenstockConfigVersion.cmake DESTINATION ${PENSTOCK_INSTALL_PACKAGE})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/traces/ DESTINATION include/penstock/traces
  FILES_MATCHING PATTERN "*.h" PATTERN samples EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/traces/FORMAT.md ${PROJECT_SOURCE_DIR}/README.md
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/penstock)
# The pages that README.md links to.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/analyzer/guides DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/penstock/analyzer
  FILES_MATCHING PATTERN "*.md")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/penstock
  FILES_MATCHING PATTERN "*.md" PATTERN "*.py")
install(FILES ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md
  ${PROJECT_SOURCE_DIR}/ARCHITECTURE.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/penstock)
install(FILES ${PROJECT_SOURCE_DIR}/analyzer/VALIDATION.md
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/penstock/analyzer)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/penstock RENAME copyright)

if(NOT PENSTOCK_WHEEL)  # a wheel has the package at its root
  file(WRITE ${CMAKE_BINARY_DIR}/VERSION-${PROJECT_VERSION} "")
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/penstock DESTINATION lib/penstock/python
    FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
  install(FILES ${CMAKE_BINARY_DIR}/VERSION-${PROJECT_VERSION} DESTINATION lib/penstock/python/penstock)
endif()

# bash and fish look for a completion by the name of the command.
foreach(_command penstock penstock-record penstock-load penstock-gui penstock-sweep penstock-export
    penstock-import penstock-pack penstock-recover penstock-validate)
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/completions/penstock.bash
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ${_command})
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/completions/penstock.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME ${_command}.fish)
endforeach()
install(FILES ${CMAKE_CURRENT_LIST_DIR}/completions/_penstock
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)

# Manual pages are generated from --help, so that the two cannot differ.
find_program(PENSTOCK_HELP2MAN help2man)
set(_runs_here ON)
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_SYSTEM_PROCESSOR STREQUAL CMAKE_HOST_SYSTEM_PROCESSOR AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  set(_runs_here OFF)
endif()
string(REPLACE ";" " " _emulator "${CMAKE_CROSSCOMPILING_EMULATOR}")
if(PENSTOCK_HELP2MAN AND NOT PENSTOCK_SANITIZE AND _runs_here)
  set(_pages)
  set(_programs penstock penstock-record penstock-recover penstock-export penstock-import penstock-validate penstock-pack)
  foreach(_optional penstock-load penstock-sweep penstock-gui)
    if(TARGET ${_optional})
      list(APPEND _programs ${_optional})
    endif()
  endforeach()
  foreach(_subcommand report whatif plan compare share tune doctor)
    list(APPEND _programs penstock:${_subcommand})
  endforeach()
  foreach(_program ${_programs})
    string(REPLACE ":" "-" _page ${_program})
    string(REGEX REPLACE ":.*" "" _target ${_program})
    set(_subcommand "")
    if(_program MATCHES ":(.+)$")
      set(_subcommand ${CMAKE_MATCH_1})
    endif()
    set(_file ${CMAKE_CURRENT_BINARY_DIR}/man/${_page}.1)
    add_custom_command(OUTPUT ${_file}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/man
      COMMAND ${CMAKE_COMMAND} -DHELP2MAN=${PENSTOCK_HELP2MAN} "-DFOLDER=$<TARGET_FILE_DIR:${_target}>" -DPROGRAM=${_target} "-DSUBCOMMAND=${_subcommand}"
        -DPAGE=${_page} "-DOUTPUT=${_file}" "-DEMULATOR=${_emulator}" -P ${CMAKE_CURRENT_LIST_DIR}/man_page.cmake
      DEPENDS ${_target} ${CMAKE_CURRENT_LIST_DIR}/man_page.cmake
      COMMENT "Manual page ${_page}(1)" VERBATIM)
    list(APPEND _pages ${_file})
  endforeach()
  add_custom_target(penstock_man ALL DEPENDS ${_pages})
  add_dependencies(penstock_programs penstock_man)  # a build for installing makes the pages too
  install(FILES ${_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
else()
  message(STATUS "penstock: no help2man, a sanitizer build, or one for another machine: no manual pages")
endif()

set(CPACK_PACKAGE_NAME penstock)
set(CPACK_PACKAGE_VENDOR Penstock)
set(CPACK_PACKAGE_CONTACT "The Penstock developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_FILE_NAME penstock-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
    ${CMAKE_CURRENT_LIST_DIR}/debian/postinst ${CMAKE_CURRENT_LIST_DIR}/debian/prerm)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The dashboard opens these two libraries by name with dlopen(), as GLFW does from its version 3.4 on.
# dpkg-shlibdeps does not see that.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libegl1, libgl1")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "fonts-dejavu-core, libgl1-mesa-dri")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-torch, fonts-droid-fallback, zenity, libfmt-dev, libzstd-dev, libexpected-dev, pkg-config")
include(CPack)
