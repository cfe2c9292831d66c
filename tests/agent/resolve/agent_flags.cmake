# SPDX-License-Identifier: Apache-2.0
# penstock_test_preload(name SOURCES ... EXPORTS symbols...): a library for LD_PRELOAD, built as
# agent/CMakeLists.txt builds the agent: it needs only libc, and its version script defines no version.
function(penstock_test_preload name)
  cmake_parse_arguments(ARG "" "" "SOURCES;EXPORTS" ${ARGN})
  list(JOIN ARG_EXPORTS "; " _export_list)
  set(_script ${CMAKE_CURRENT_BINARY_DIR}/${name}.map)
  file(CONFIGURE OUTPUT ${_script} CONTENT "{ global: @_export_list@; local: *; };\n" @ONLY)
  add_library(${name} SHARED ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE penstock_flags)
  target_compile_options(${name} PRIVATE
    -O2 -fno-exceptions -fno-rtti -fno-threadsafe-statics -fvisibility=hidden
    -ftls-model=initial-exec -fno-stack-protector -U_FORTIFY_SOURCE -fasynchronous-unwind-tables
    -Wno-pedantic -Wno-cast-align)
  target_compile_definitions(${name} PRIVATE _GNU_SOURCE)
  target_link_options(${name} PRIVATE -nodefaultlibs -Wl,--version-script=${_script} -Wl,-z,now
    -Wl,-z,nodelete -Wl,--no-undefined)
  target_link_libraries(${name} PRIVATE
    -Wl,--no-as-needed -l:libdl.so.2 -lc -Wl,--as-needed -lgcc)
  set_target_properties(${name} PROPERTIES LINK_DEPENDS ${_script} UNITY_BUILD OFF)
endfunction()
