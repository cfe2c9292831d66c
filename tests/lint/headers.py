#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles each header of the tree alone: a header must include what it uses.

A set of includes that many headers have in common is compiled once and read in before each of these headers. This hides
no error, since each of them includes the whole set anyway, directly or through headers that are checked too. clang++
reads such a set in half the time that g++ takes.

One run of the compiler checks a chain of headers, in which each header includes all headers before it. This hides no
error either: the first header is compiled alone, and each later header sees before it only headers that it includes
itself. The compiled sets also begin with such a chain. If a chain fails, its headers are compiled one by one.

With --built, headers that this build has already compiled alone are left out: a header that a source includes before
anything else, and a header that such a header includes before anything else. In a unity build only the first source of
each generated file counts. The object must be newer than the header.
Run: headers.py --compiler g++ [--root DIR] [--built FOLDER] [--skip PREFIX]... [-- FLAGS...]
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import layers  # noqa: E402
import lint  # noqa: E402

# The costs of compiling a header from outside the tree, and of writing a compiled set. Unit: the cost of a header of
# ours.
OUTSIDE = 4
WRITING = 40


def command(compiler, flags, root, language):
    """The command for a header, with the options of all our programs."""
    standard = "c++20" if language == "c++" else "gnu11"
    return [compiler, "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", '-DPENSTOCK_VERSION="0"',
            *flags, f"-I{root}", f"-std={standard}"]


def compile_alone(compiler, flags, root, headers, language, before=None):
    """The compiler's complaints about a source that includes only these headers; "" if there are none.

    before: the result of compile_first(), or None.
    """
    ahead = ["-include", str(before)] if before else []
    done = subprocess.run(
        [*command(compiler, flags, root, language), *ahead, "-fsyntax-only", "-x", language, "-"],
        input="".join(f'#include "{header}"\n' for header in headers), cwd=root, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return "" if done.returncode == 0 else done.stdout or f"status {done.returncode}"


def compile_chain(compiler, flags, root, chain, language, before=None):
    """[(header, complaints)] of a chain of headers, as chains() gives it."""
    complaints = compile_alone(compiler, flags, root, chain, language, before)
    if complaints and len(chain) > 1:
        return [(header, compile_alone(compiler, flags, root, [header], language, before)) for header in chain]
    return [(header, complaints) for header in chain]


def headers_of_c(root, names):
    """Headers that C sources of the tree include. They are compiled as C, not as C++."""
    found = set()
    for name in names:
        if name.endswith(".c"):
            for line in (lint.read_text(root / name) or "").splitlines():
                include = layers.INCLUDE.match(line)
                if include and include.group(1) == '"':
                    found.add(include.group(2))
    return found


def first_include(text):
    """The name in the first #include "name" of a file; None if code or another include comes first."""
    for line in map(str.strip, text.splitlines()):
        include = layers.INCLUDE.match(line)
        if include:
            return include.group(2) if include.group(1) == '"' else None
        if line and not re.match(r"//|/\*.*\*/$|#\s*pragma\s+once", line):
            return None
    return None


def compiled_by_the_build(root, build, names):
    """Headers that the build in this folder has compiled with nothing before them, and that have not changed since."""
    firsts = {name: first_include(lint.read_text(root / name) or "") for name in names if name.endswith((".h", ".cc"))}
    found = set()
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        words = shlex.split(entry["command"])
        source, built = pathlib.Path(entry["file"]), pathlib.Path(entry["directory"], words[words.index("-o") + 1])
        if "-include" in words or source.suffix not in (".cc", ".cxx") or not built.exists():
            continue
        if build in source.parents:  # a unity build's file, which includes our sources by their paths
            source = pathlib.Path(first_include(lint.read_text(source) or "") or source)
        name = str(source.relative_to(root)) if root in source.parents else None
        header = firsts.get(name)
        while header in firsts and (root / header).stat().st_mtime < built.stat().st_mtime:
            found.add(header)
            header = firsts[header]
    return found


def includes(text):
    """The includes of a header outside of any #if, as written; None if an include comes after other code.

    The reason for None: if all its includes were read first, the code above an include would see more than it does
    alone. """
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
    """{header: all that it includes, directly or indirectly}. Leaves out headers for which includes() gives None."""
    direct = {f'"{header}"': includes(lint.read_text(root / header) or "") for header in headers}
    whole = {}

    def follow(name):
        if name not in direct:
            return set()
        if name not in whole:
            whole[name] = None  # stops at a cycle of includes, which the compiler reports
            found = direct[name]
            for below in sorted(found or ()):
                more = follow(below)
                found = found | more if found is not None and more is not None else None
            whole[name] = found
        return whole[name]

    return {header: found for header in headers if (found := follow(f'"{header}"')) is not None}


def worth_compiling_first(whole):
    """({header: the set of includes to read in before it, perhaps empty}, these sets).

    A set is a header of ours and all that it includes, or one outside header. Greedy: always chooses the set that saves
    most.
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


def chains(headers, whole):
    """Divides the headers into lists. In a list, each header includes all headers before it."""
    found = []
    for header in sorted(headers, key=lambda one: (len(whole[one]), one)):
        fitting = [chain for chain in found if f'"{chain[-1]}"' in whole[header]]
        if fitting:
            max(fitting, key=lambda chain: len(whole[chain[-1]])).append(header)
        else:
            found.append([header])
    return found


def chain_in(ahead, whole):
    """The longest chain of headers in the set of includes `ahead`."""
    longest = {}
    for header in sorted((name[1:-1] for name in ahead if name[1:-1] in whole), key=lambda one: (len(whole[one]), one)):
        longest[header] = [*max((longest[other] for other in longest if f'"{other}"' in whole[header]),
                                key=len, default=[]), header]
    return max(longest.values(), key=len, default=[])


def compile_first(compiler, flags, root, folder, ahead, chain=()):
    """Makes a header that includes all of `ahead`, beginning with `chain`, and compiles it to a file beside it. Returns
    the header; None if it does not compile."""
    header = pathlib.Path(tempfile.mkdtemp(dir=folder)) / "first.h"
    names = dict.fromkeys([*(f'"{name}"' for name in chain), *sorted(ahead)])
    header.write_text("".join(f"#include {name}\n" for name in names), encoding="utf-8")
    # Otherwise clang instantiates the set's templates again for each header that reads the set in.
    once = ["-fpch-instantiate-templates"] if "clang" in pathlib.Path(compiler).name else []
    done = subprocess.run(
        [*command(compiler, flags, root, "c++"), *once, "-x", "c++-header", str(header), "-o", f"{header}.gch"],
        cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return header if done.returncode == 0 else None


def check(compiler, flags, root, skip=(), built=None):
    """Yields (header, complaints); complaints are "" for a good header."""
    names = lint.list_files(root)
    in_c = headers_of_c(root, names)
    done = compiled_by_the_build(root, built, names) if built else set()
    headers = [name for name in names if name.endswith(".h") and name not in done
               and not name.startswith(tuple(skip))]
    whole = all_includes(root, [name for name in names if name.endswith(".h") and name not in in_c])
    before, chosen = worth_compiling_first({header: whole[header] for header in headers if header in whole})
    jobs = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="penstock-headers-") as folder, \
            concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        begins = {ahead: chain_in(ahead, whole) for ahead in chosen}
        first = dict(zip(chosen, pool.map(
            lambda ahead: compile_first(compiler, flags, root, folder, ahead, begins[ahead]), chosen)))
        good = {header for ahead in chosen if first[ahead] for header in begins[ahead]}
        yield from ((header, "") for header in headers if header in good)
        by_set = {}
        for header in headers:
            if header not in good and header in whole:
                by_set.setdefault(before[header], []).append(header)
        tasks = [(chain, first.get(ahead)) for ahead, some in by_set.items() for chain in chains(some, whole)]
        tasks += [([header], None) for header in headers if header not in whole]
        for found in pool.map(lambda task: compile_chain(
                compiler, flags, root, task[0], "c" if task[0][0] in in_c else "c++", task[1]), tasks):
            yield from found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--built", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--skip", action="append", default=[], metavar="PREFIX")
    parser.add_argument("flags", nargs="*")
    options = parser.parse_args()
    count = bad = 0
    for header, complaints in check(options.compiler, options.flags, options.root.resolve(),
                                    options.skip, options.built and options.built.resolve()):
        count += 1
        if complaints:
            bad += 1
            print(f"{header}: does not compile alone\n{complaints}")
    print(f"headers: {count} compiled alone, {bad} of them do not")
    return 1 if bad or not count else 0


if __name__ == "__main__":
    sys.exit(main())
