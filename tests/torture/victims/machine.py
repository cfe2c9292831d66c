# SPDX-License-Identifier: Apache-2.0
"""The machine (victims/machine/) in Python: machine.py PROGRAM LOG FOLDER BLOCK KEY FLAGS

Runs one block of a program with Python's own functions. Knows the lines "pyread FILE" (reads a whole file) and
"pypread FILE SIZE AT", and skips all others.
"""
import mmap
import os
import struct
import sys

ROW_AT = 16
ROW = 8 + 64 * 32
FLAG_UNSEEN, FLAG_VOLATILE, FLAG_FIRST = 1, 2, 4


def main():
    program, log_path, folder, block, key, flags = sys.argv[1:7]
    with open(log_path, "r+b", buffering=0) as file:
        log = mmap.mmap(file.fileno(), 0)
    # No other process takes a row at the same time, since a program waits for the Python program that it started.
    rows = struct.unpack_from("<I", log, 0)[0]
    struct.pack_into("<I", log, 0, rows + 1)
    row = ROW_AT + rows * ROW
    struct.pack_into("<II", log, row, os.getpid(), int(flags) & FLAG_UNSEEN)

    def note(cell, at, amount):
        place = row + 8 + cell * 32 + at * 8
        struct.pack_into("<Q", log, place, struct.unpack_from("<Q", log, place)[0] + amount)

    late = 3 if int(flags) & FLAG_UNSEEN else 1 if struct.unpack_from("<I", log, 8)[0] else 0
    total = 0
    inside = False
    with open(program, encoding="utf-8") as file:
        lines = file.read().split("\n")
    for words in map(str.split, lines):
        if not words or words[0] == "#":
            continue
        if words[0] == "block":
            inside = words[1] == block
        elif inside and words[0] in ("pyread", "pypread"):
            number = int(words[1])
            path = os.path.join(folder, "set", "%02d.bin" % number)
            note(number, 2, 1 << 20)
            if words[0] == "pyread":
                with open(path, "rb") as data:
                    got = data.read()
            else:
                fd = os.open(path, os.O_RDONLY)
                got = os.pread(fd, int(words[2]), int(words[3]))
                os.close(fd)
            note(number, late, len(got))
            note(number, 2, -(1 << 20))
            total += sum(got)
    print("python", total)


main()
