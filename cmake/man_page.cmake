# SPDX-License-Identifier: Apache-2.0
# Makes one manual page from a program's --help. Variables: HELP2MAN, FOLDER, PROGRAM, SUBCOMMAND (may be
# empty), PAGE, OUTPUT, EMULATOR (the command that runs programs of another architecture; may be empty). The
# program is called from its folder, because help2man splits paths at blanks.
separate_arguments(_emulator UNIX_COMMAND "${EMULATOR}")
execute_process(COMMAND ${_emulator} ./${PROGRAM} ${SUBCOMMAND} --help WORKING_DIRECTORY ${FOLDER}
  OUTPUT_VARIABLE _help RESULT_VARIABLE _failed)
if(_failed)
  message(FATAL_ERROR "${PROGRAM} ${SUBCOMMAND} --help: exit status ${_failed}")
endif()
# The first sentence of the help says what the program is for.
string(REGEX REPLACE "^penstock: " "" _help "${_help}")
string(REGEX MATCH "^[^\n.:]*" _purpose "${_help}")
string(STRIP "${EMULATOR} ./${PROGRAM} ${SUBCOMMAND}" _call)
execute_process(COMMAND ${HELP2MAN} --no-info --section=1 "--name=${_purpose}" "--manual=Penstock"
    --output=${OUTPUT}.new ${_call} WORKING_DIRECTORY ${FOLDER}
  ERROR_VARIABLE _error RESULT_VARIABLE _failed)
if(_failed)
  message(FATAL_ERROR "help2man ${_call}: ${_error}")
endif()
# help2man names the page after the program: a subcommand's page would be named penstock.
file(READ ${OUTPUT}.new _text)
string(TOUPPER ${PAGE} _title)
string(REGEX REPLACE "\n\\.TH [^ ]+ " "\n.TH ${_title} " _text "${_text}")
string(REGEX REPLACE "\n\\.SH NAME\n[^\n]* \\\\- " "\n.SH NAME\n${PAGE} \\\\- " _text "${_text}")
file(WRITE ${OUTPUT} "${_text}")
file(REMOVE ${OUTPUT}.new)
