# SPDX-License-Identifier: Apache-2.0
# fish completion for penstock: commands and options as the programs themselves list them.

function __penstock_commands
    penstock help 2>/dev/null | string match -r '^  [a-z][a-z-]*  .*' | string replace -r '^  ([a-z-]+) +(.*)' '$1\t$2'
end

function __penstock_options
    set -l words (commandline -opc)
    set -l call $words[1]
    if test (basename $words[1]) = penstock; and set -q words[2]
        set call $words[1] $words[2]
    end
    $call --help 2>/dev/null | string match -ar -- '(?:^|[ ,])(--[a-z][a-z-]*)' | string match -r -- '^--.*' | sort -u
end

function __penstock_no_command
    test (count (commandline -opc)) -eq 1
end

complete -c penstock -n __penstock_no_command -f -a '(__penstock_commands)'
for program in penstock penstock-record penstock-load penstock-gui penstock-sweep penstock-export penstock-import penstock-pack penstock-recover penstock-validate
    complete -c $program -n 'string match -q -- "-*" (commandline -ct)' -f -a '(__penstock_options)'
end
