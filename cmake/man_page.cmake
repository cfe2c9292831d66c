# SPDX-License-Identifier: Apache-2.0
# One manual page of a program's --help: HELP2MAN, PROGRAM (with its subcommand), PAGE, OUTPUT.
get_filename_component(_base "${PROGRAM}" NAME)
string(REGEX REPLACE "^.*/([^/]*)$" "\\1" _name "${PROGRAM}")
separate_arguments(_words UNIX_COMMAND "${PROGRAM}")
execute_process(COMMAND ${_words} --help OUTPUT_VARIABLE _help RESULT_VARIABLE _failed)
if(_failed)
  message(FATAL_ERROR "${PROGRAM} --help: exit status ${_failed}")
endif()
# The first sentence of the help is what the program is for.
string(REGEX REPLACE "^penstock: " "" _help "${_help}")
string(REGEX MATCH "^[^\n.:]*" _purpose "${_help}")
execute_process(COMMAND ${HELP2MAN} --no-info --section=1 "--name=${_purpose}" "--manual=Penstock"
    --output=${OUTPUT}.new "${PROGRAM}" ERROR_VARIABLE _error RESULT_VARIABLE _failed)
if(_failed)
  message(FATAL_ERROR "help2man ${PROGRAM}: ${_error}")
endif()
# It takes the name from the path of the program, which for a subcommand is that of penstock.
file(READ ${OUTPUT}.new _text)
string(TOUPPER ${PAGE} _title)
string(REGEX REPLACE "\n\\.TH [^ ]+ " "\n.TH ${_title} " _text "${_text}")
string(REGEX REPLACE "\n\\.SH NAME\n[^\n]* \\\\- " "\n.SH NAME\n${PAGE} \\\\- " _text "${_text}")
file(WRITE ${OUTPUT} "${_text}")
file(REMOVE ${OUTPUT}.new)
