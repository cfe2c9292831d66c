# SPDX-License-Identifier: Apache-2.0
# Helpers: every target of ours is made with one of these.
include(GNUInstallDirs)

add_library(penstock_flags INTERFACE)
target_compile_options(penstock_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
    -Wcast-align -Wformat=2 -Wundef -Wnon-virtual-dtor>
  $<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast -Woverloaded-virtual>)
# gcc 12 falsely warns of an overlap in std::string's operator+ (GCC bug 105651).
target_compile_options(penstock_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
if(CMAKE_UNITY_BUILD)
  # A class's hidden State may have members whose types are local to its .cc file. gcc warns of such members
  # in a unity build.
  target_compile_options(penstock_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  # A unity build's generated sources include ours by absolute paths. Without this option __FILE__ has
  # absolute paths too, and ccache does not find what another clone has compiled.
  target_compile_options(penstock_flags INTERFACE
    $<$<COMPILE_LANGUAGE:C,CXX>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>)
endif()
if(PENSTOCK_WERROR)
  target_compile_options(penstock_flags INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Werror>)
endif()
target_include_directories(penstock_flags INTERFACE ${PROJECT_SOURCE_DIR})

# Not part of penstock_flags: the agent uses those flags too, but must have no sanitizers, because it is loaded
# into foreign programs.
add_library(penstock_sanitize INTERFACE)
if(PENSTOCK_SANITIZE)
  string(REPLACE ";" "," _sanitizers "${PENSTOCK_SANITIZE}")
  target_compile_options(penstock_sanitize INTERFACE
    -fsanitize=${_sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  # With sanitizers gcc's -Wmaybe-uninitialized has false positives, as its documentation says.
  target_compile_options(penstock_sanitize INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(penstock_sanitize INTERFACE -fsanitize=${_sanitizers})
endif()

# penstock_library(name SOURCES ... [HEADERS ...] [DEPS public...] [PRIVATE private...])
function(penstock_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;HEADERS;DEPS;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES} ${ARG_HEADERS})
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  target_link_libraries(${name} PUBLIC ${ARG_DEPS} $<BUILD_INTERFACE:penstock_sanitize>
    PRIVATE $<BUILD_INTERFACE:penstock_flags> ${ARG_PRIVATE})
endfunction()

# The programs that a user runs, without tests and benchmarks.
add_custom_target(penstock_programs)
# Everything that the tests of the presets asan and tsan need. These presets do not build the other targets,
# which only users or the tests with the label "preload" (whole programs under the agent) need.
add_custom_target(penstock_tests)

# penstock_runs_once(target): compiles at -O1. For code that runs once (a command line, a test): CLI11 and
# GoogleTest's macros are all inline, so it takes twice as long to compile at -O3.
function(penstock_runs_once target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# penstock_program(name SOURCES ... [DEPS ...])
function(penstock_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_compile_definitions(${name} PRIVATE PENSTOCK_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${name} PRIVATE penstock_flags penstock_sanitize ${ARG_DEPS})
  penstock_runs_once(${name})
  add_dependencies(penstock_programs ${name})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# penstock_test(name SOURCES ... [DEPS ...] [LABELS ...] [TIMEOUT seconds] [TOGETHER suites...]
#   [ONE_THREAD suites...])
#
# Each test is a process of its own. The tests of a suite in TOGETHER share one process, which makes once what
# they all need. Under a sanitizer a process takes a quarter of a second to begin and to end, so a program's tests
# are divided among three processes (scripts/test.sh runs three at a time on two cores). Tests of the agent stay
# alone, since they change their process. ONE_THREAD: suites that take long and start no thread, so the preset tsan
# leaves them out. `strace -f -e clone,clone3` shows whether a suite starts threads.
function(penstock_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPS;LABELS;TOGETHER;ONE_THREAD" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(${name} PRIVATE penstock_flags penstock_sanitize ${ARG_DEPS} GTest::gtest GTest::gmock GTest::gtest_main)
  penstock_runs_once(${name})
  add_dependencies(penstock_tests ${name})
  include(GoogleTest)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  set(_properties TIMEOUT ${ARG_TIMEOUT})
  if(ARG_LABELS)  # at most one: gtest_discover_tests() would take the second for the name of a property
    list(APPEND _properties LABELS ${ARG_LABELS})
  endif()
  set(_left_out)
  if(ARG_ONE_THREAD AND "thread" IN_LIST PENSTOCK_SANITIZE)
    list(TRANSFORM ARG_ONE_THREAD APPEND ".*" OUTPUT_VARIABLE _left_out)
    list(REMOVE_ITEM ARG_TOGETHER ${ARG_ONE_THREAD})
  endif()
  foreach(_suite ${ARG_TOGETHER})
    add_test(NAME ${_suite} COMMAND ${name} --gtest_filter=${_suite}.*)
    set_tests_properties(${_suite} PROPERTIES ${_properties}
      FAIL_REGULAR_EXPRESSION "Running 0 tests;\\[  SKIPPED \\]")
    list(APPEND _left_out ${_suite}.*)
  endforeach()
  list(JOIN _left_out ":" _left_out)
  if(PENSTOCK_SANITIZE AND NOT ARG_LABELS MATCHES "^(agent|gpu|preload)$")
    foreach(_part RANGE 2)
      add_test(NAME ${name}.${_part} COMMAND ${name} --gtest_filter=-${_left_out})
      set_tests_properties(${name}.${_part} PROPERTIES ${_properties} TIMEOUT 600
        ENVIRONMENT "GTEST_TOTAL_SHARDS=3;GTEST_SHARD_INDEX=${_part}")
    endforeach()
    return()
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 TEST_FILTER -${_left_out} PROPERTIES ${_properties})
endfunction()

# penstock_paths(test NAME path [NAME path...]): adds a source to the test. It defines the constants NAME, which
# tests/paths.h declares, as these paths.
function(penstock_paths test)
  set(_source ${CMAKE_CURRENT_BINARY_DIR}/${test}_paths.cc)
  set(_lines "#include \"tests/paths.h\"\n\nnamespace penstock::paths {\n")
  while(ARGN)
    list(POP_FRONT ARGN _name _path)
    string(APPEND _lines "const char ${_name}[] = \"${_path}\";\n")
  endwhile()
  file(GENERATE OUTPUT ${_source} CONTENT "${_lines}}  // namespace penstock::paths\n")
  set_source_files_properties(${_source} PROPERTIES GENERATED ON SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${test} PRIVATE ${_source})
endfunction()

# penstock_absent_test(name WHY [LABELS ...]): adds a test in place of tests that this machine cannot run. ctest
# counts it as skipped and says why; scripts/test.sh does not let CI pass with such a skip.
function(penstock_absent_test name why)
  cmake_parse_arguments(ARG "" "" "LABELS" ${ARGN})
  message(STATUS "penstock: ${why}: no tests ${name}")
  add_test(NAME ${name}.absent COMMAND ${CMAKE_COMMAND} -E echo "skipped: ${why}")
  set_tests_properties(${name}.absent PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: " LABELS "${ARG_LABELS}")
endfunction()

# penstock_benchmark(name SOURCES ... [DEPS ...])
function(penstock_benchmark name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE penstock_flags penstock_sanitize ${ARG_DEPS} benchmark::benchmark)
endfunction()

# penstock_fuzz_target(name SOURCE DEPS libraries... INSTRUMENT our libraries... [SEEDS folders...])
#
# The program NAME_replay feeds files to LLVMFuzzerTestOneInput; a test runs it on the SEEDS. Every build except
# the preset tsan has it.
# With PENSTOCK_FUZZ there is also the libFuzzer program NAME, and INSTRUMENT is built for coverage.
function(penstock_fuzz_target name)
  cmake_parse_arguments(ARG "" "SOURCE" "DEPS;INSTRUMENT;SEEDS" ${ARGN})
  if("thread" IN_LIST PENSTOCK_SANITIZE)  # fuzz targets have one thread
    return()
  endif()
  add_executable(${name}_replay ${ARG_SOURCE} ${PROJECT_SOURCE_DIR}/tests/fuzz/run_inputs.cc)
  target_link_libraries(${name}_replay PRIVATE penstock_flags penstock_sanitize ${ARG_DEPS})
  set_target_properties(${name}_replay PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_dependencies(penstock_tests ${name}_replay)
  if(ARG_SEEDS)
    add_test(NAME fuzz.${name} COMMAND ${name}_replay ${ARG_SEEDS})
  endif()
  if(NOT PENSTOCK_FUZZ)
    return()
  endif()
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "PENSTOCK_FUZZ needs clang: -DCMAKE_TOOLCHAIN_FILE=cmake/toolchains/clang.cmake")
  endif()
  foreach(_library ${ARG_INSTRUMENT})
    target_compile_options(${_library} PRIVATE -fsanitize=fuzzer-no-link)
  endforeach()
  add_executable(${name} ${ARG_SOURCE})
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(${name} PRIVATE penstock_flags penstock_sanitize ${ARG_DEPS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_dependencies(penstock_tests ${name})
endfunction()
