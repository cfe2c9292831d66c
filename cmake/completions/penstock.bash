# SPDX-License-Identifier: Apache-2.0
# bash completion for penstock: commands and options as the programs themselves list them.

_penstock_commands() {
  "$1" help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p'
}

_penstock_options() {
  "$@" --help 2>/dev/null | grep -oE -- '(^|[ ,])--[a-z][a-z-]*' | tr -d ' ,' | sort -u
}

_penstock() {
  local word=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]} i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then # the command that is traced: its own completion
      if declare -F _command_offset >/dev/null; then
        _command_offset $((i + 1))
      else
        mapfile -t COMPREPLY < <(compgen -c -f -- "$word")
      fi
      return
    fi
  done
  if [[ $program == penstock || $program == */penstock ]]; then
    if ((COMP_CWORD == 1)); then
      mapfile -t COMPREPLY < <(compgen -W "$(_penstock_commands "$program") --help --version" -- "$word")
      return
    fi
    set -- "$program" "${COMP_WORDS[1]}"
  else
    set -- "$program"
  fi
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_penstock_options "$@")" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
    compopt -o filenames 2>/dev/null
  fi
}

complete -F _penstock penstock penstock-record penstock-load penstock-gui penstock-sweep \
  penstock-export penstock-import penstock-pack penstock-recover penstock-validate
