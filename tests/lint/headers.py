#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the headers of the tree alone: each must include what it uses.

Sets of includes that many headers have in common are compiled once and read in before each of these
headers. That hides no error, since the header includes the whole set anyway, itself or through headers
that are checked too. clang++ reads such a set in half the time that g++ takes.

With --built, headers that the build has compiled alone already are left out: if each source is compiled on
its own (not in a unity build), that is every header that its source includes before anything else.
Run: headers.py --compiler g++ [--root DIR] [--built] [--skip PREFIX]... [-- FLAGS...]
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import layers  # noqa: E402
import lint  # noqa: E402

# In units of one header of ours: the cost of compiling a header from outside, and of writing a compiled set.
OUTSIDE = 4
WRITING = 40


def command(compiler, flags, root, language):
    """The command for a header, with the options of all our programs."""
    standard = "c++20" if language == "c++" else "gnu11"
    return [compiler, "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", '-DPENSTOCK_VERSION="0"',
            *flags, f"-I{root}", f"-std={standard}"]


def compile_alone(compiler, flags, root, header, language, before=None):
    """The compiler's complaints about a source that holds nothing but this header; "" if none.

    before: the result of compile_first(), or None.
    """
    ahead = ["-include", str(before)] if before else []
    done = subprocess.run(
        [*command(compiler, flags, root, language), *ahead, "-fsyntax-only", "-x", language, "-"],
        input=f'#include "{header}"\n', cwd=root, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return "" if done.returncode == 0 else done.stdout or f"status {done.returncode}"


def headers_of_c(root, names):
    """Headers that C sources of the tree include: they are C, not C++."""
    found = set()
    for name in names:
        if name.endswith(".c"):
            for line in (lint.read_text(root / name) or "").splitlines():
                include = layers.INCLUDE.match(line)
                if include and include.group(1) == '"':
                    found.add(include.group(2))
    return found


def compiled_by_their_sources(root, names):
    """Headers that the source of the same name includes first."""
    found = set()
    for name in names:
        if name.endswith(".cc"):
            for line in (lint.read_text(root / name) or "").splitlines():
                include = layers.INCLUDE.match(line)
                if include:
                    if include.group(2) == name[:-3] + ".h":
                        found.add(include.group(2))
                    break
    return found


def includes(text):
    """Includes of a header that are in no #if, as written; None if an include stands below other code.

    If all includes were read first, code above an include would see more than it does alone.
    """
    found = set()
    nesting = 0
    code = False
    for line in map(str.strip, text.splitlines()):
        include = layers.INCLUDE.match(line)
        if include and code:
            return None
        if include and nesting == 0:
            found.add(f'"{include.group(2)}"' if include.group(1) == '"' else f"<{include.group(2)}>")
        elif re.match(r"#\s*if", line):
            nesting += 1
        elif re.match(r"#\s*endif", line):
            nesting -= 1
        elif line and not line.startswith("//") and not re.match(r"#\s*(pragma\s+once|include|el)", line):
            code = True
    return found


def all_includes(root, headers):
    """{header: all that it includes, directly or not}, without headers for which includes() gives None."""
    direct = {f'"{header}"': includes(lint.read_text(root / header) or "") for header in headers}
    whole = {}

    def follow(name):
        if name not in direct:
            return set()
        if name not in whole:
            whole[name] = None  # for a circle; the compiler reports it
            found = direct[name]
            for below in sorted(found or ()):
                more = follow(below)
                found = found | more if found is not None and more is not None else None
            whole[name] = found
        return whole[name]

    return {header: found for header in headers if (found := follow(f'"{header}"')) is not None}


def worth_compiling_first(whole):
    """({header: the set of includes to read in before it, perhaps empty}, these sets).

    Each set is a header and all that it includes, or one outside header. Greedy: next comes the set that saves most.
    """
    sets = {frozenset(found | {f'"{header}"'}) for header, found in whole.items()}
    sets |= {frozenset({name}) for found in whole.values() for name in found if name[0] == "<"}
    cost = {ahead: sum(OUTSIDE if name[0] == "<" else 1 for name in ahead) for ahead in sets}
    cost[frozenset()] = 0
    users = {ahead: [header for header, found in whole.items() if ahead <= found] for ahead in sets}
    before = {header: frozenset() for header in whole}
    chosen = []

    def gain(ahead):
        return sum(max(0, cost[ahead] - cost[before[header]]) for header in users[ahead]) - cost[ahead]

    while sets:
        best = max(sorted(sets, key=sorted), key=gain)
        if gain(best) <= WRITING:
            break
        chosen.append(best)
        for header in users[best]:
            before[header] = max(before[header], best, key=cost.get)
    return before, chosen


def compile_first(compiler, flags, root, folder, ahead):
    """Makes a header that includes all of `ahead`, and its compiled form beside it; None if it does not compile."""
    header = pathlib.Path(tempfile.mkdtemp(dir=folder)) / "first.h"
    header.write_text("".join(f"#include {name}\n" for name in sorted(ahead)), encoding="utf-8")
    done = subprocess.run(
        [*command(compiler, flags, root, "c++"), "-x", "c++-header", str(header), "-o", f"{header}.gch"],
        cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return header if done.returncode == 0 else None


def check(compiler, flags, root, skip=(), built=False):
    """Yields (header, complaints); complaints are "" for a good header."""
    names = lint.list_files(root)
    in_c = headers_of_c(root, names)
    done = compiled_by_their_sources(root, names) if built else set()
    headers = [name for name in names if name.endswith(".h") and name not in done
               and not name.startswith(tuple(skip))]
    jobs = len(os.sched_getaffinity(0))
    before, chosen = worth_compiling_first(
        all_includes(root, [header for header in headers if header not in in_c]))
    with tempfile.TemporaryDirectory(prefix="penstock-headers-") as folder, \
            concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        first = dict(zip(chosen, pool.map(
            lambda ahead: compile_first(compiler, flags, root, folder, ahead), chosen)))
        yield from zip(headers, pool.map(
            lambda header: compile_alone(compiler, flags, root, header,
                                         "c" if header in in_c else "c++",
                                         first.get(before.get(header))), headers))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--built", action="store_true")
    parser.add_argument("--skip", action="append", default=[], metavar="PREFIX")
    parser.add_argument("flags", nargs="*")
    options = parser.parse_args()
    count = bad = 0
    for header, complaints in check(options.compiler, options.flags, options.root.resolve(),
                                    options.skip, options.built):
        count += 1
        if complaints:
            bad += 1
            print(f"{header}: does not compile alone\n{complaints}")
    print(f"headers: {count} compiled alone, {bad} of them do not")
    return 1 if bad or not count else 0


if __name__ == "__main__":
    sys.exit(main())
