# SPDX-License-Identifier: Apache-2.0
# cmake -DNM=... -DLIBRARY=... -DMAP=... -P: checks that LIBRARY exports exactly the names in its version script MAP.
execute_process(COMMAND ${NM} -D --defined-only --format=posix ${LIBRARY}
  OUTPUT_VARIABLE _symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" _symbols "${_symbols}")
list(TRANSFORM _symbols REPLACE " .*" "")
list(SORT _symbols)
file(STRINGS ${MAP} _listed REGEX "^    [a-z_]+;")
list(TRANSFORM _listed REPLACE "[ ;]" "")
list(FILTER _listed EXCLUDE REGEX "\\*")
list(SORT _listed)
if(NOT _symbols STREQUAL _listed)
  message(FATAL_ERROR "${LIBRARY} defines\n${_symbols}\nand not\n${_listed}")
endif()
