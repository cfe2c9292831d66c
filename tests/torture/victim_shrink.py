# SPDX-License-Identifier: Apache-2.0
"""Shrinks a program that behaves differently when traced. Leaves out lines, at first half of them at a time, then makes
numbers smaller, as long as the difference remains."""
import re

from victim_programs import Program


def copy(program, blocks):
    return Program(blocks, program.flavour, program.notes)


def places_of(program):
    return [(block, line) for block in sorted(program.blocks) for line in range(len(program.blocks[block]))]


def without(program, gone):
    gone = set(gone)
    blocks = {block: [text for line, text in enumerate(lines) if (block, line) not in gone]
              for block, lines in program.blocks.items()}  # fmt: skip
    return reachable(copy(program, blocks))


def reachable(program):
    """Returns the program without the blocks that no line names any more."""
    used, queue = set(), [0]
    while queue:
        block = queue.pop()
        if block in used:
            continue
        used.add(block)
        for line in program.blocks.get(block, []):
            queue += [int(number) for number in re.findall(r"@(\d+)", line)]
    return copy(program, {block: lines if block in used else [] for block, lines in program.blocks.items()})


def fewer_lines(program, differs):
    step = max(1, program.size() // 2)
    while True:
        at, shrunk = 0, False
        while at < program.size():
            places = places_of(program)
            smaller = without(program, places[at : at + step])
            if smaller.size() < program.size() and differs(smaller):
                program, shrunk = smaller, True
            else:
                at += step
        if step == 1 and not shrunk:
            return program
        step = max(1, step // 2) if step > 1 else 1


def inlined(program, differs):
    """Puts the lines of a block in place of the line that runs the block ("loop", "thread", "fork", ...), if the
    program then still differs."""
    for block, line in places_of(program):
        found = re.match(r"~?(loop|fork|clonefork|thread|double|try) .*@(\d+)", program.blocks[block][line])
        if found:
            blocks = {number: list(lines) for number, lines in program.blocks.items()}
            blocks[block][line : line + 1] = blocks[int(found.group(2))]
            smaller = reachable(copy(program, blocks))
            if smaller.size() <= program.size() and differs(smaller):
                return smaller
    return None


def smaller_numbers(program, differs):
    for block, line in places_of(program):
        words = program.blocks[block][line].split()
        for at in range(1, len(words)):
            for value in ("0", "1", "100", "1000"):
                if not re.fullmatch(r"\d+", words[at]) or int(value) >= int(words[at]) or words[0] == "altstack":
                    continue  # a smaller alternate stack could cause another difference
                blocks = {number: list(lines) for number, lines in program.blocks.items()}
                blocks[block][line] = " ".join(words[:at] + [value] + words[at + 1 :])
                if differs(copy(program, blocks)):
                    program = copy(program, blocks)
                    break
            words = program.blocks[block][line].split()
    return program


def shrink(program, differs, budget=400):
    """Returns a smaller program. Calls differs(program), which says whether the difference remains, at most `budget`
    times."""
    left = [budget]

    def asked(candidate):
        if left[0] <= 0:
            return False
        left[0] -= 1
        return differs(candidate)

    program = fewer_lines(program, asked)
    while True:
        smaller = inlined(program, asked)
        if smaller is None:
            break
        program = fewer_lines(smaller, asked)
    program = smaller_numbers(program, asked)
    return fewer_lines(program, asked)
