#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the headers of the tree alone: each must include what it uses.

With --built only those that the build did not compile alone already: in a build where each source is
compiled on its own (not in a unity build), a header that its source includes before anything else was.
Run: headers.py --compiler g++ [--root DIR] [--built] [--skip PREFIX]... [-- FLAGS...]
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import lint  # noqa: E402


def compile_alone(compiler, flags, root, header, language):
    """The compiler's complaints about a source that holds nothing but this header; "" if none."""
    standard = "c++20" if language == "c++" else "gnu11"
    # As every program of ours is compiled.
    done = subprocess.run(
        [compiler, "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function",
         '-DPENSTOCK_VERSION="0"', *flags, f"-I{root}", "-x", language, f"-std={standard}", "-"],
        input=f'#include "{header}"\n', cwd=root, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return "" if done.returncode == 0 else done.stdout or f"status {done.returncode}"


def headers_of_c(root, names):
    """What the C sources of the tree include: such a header is C, not C++."""
    found = set()
    for name in names:
        if name.endswith(".c"):
            for line in (lint.read_text(root / name) or "").splitlines():
                include = lint.INCLUDE.match(line)
                if include and include.group(1) == '"':
                    found.add(include.group(2))
    return found


def compiled_by_their_sources(root, names):
    """Headers that the source of the same name includes first."""
    found = set()
    for name in names:
        if name.endswith(".cc"):
            for line in (lint.read_text(root / name) or "").splitlines():
                include = lint.INCLUDE.match(line)
                if include:
                    if include.group(2) == name[:-3] + ".h":
                        found.add(include.group(2))
                    break
    return found


def check(compiler, flags, root, skip=(), built=False):
    """Yields (header, complaints), complaints "" for a good one."""
    names = lint.list_files(root)
    in_c = headers_of_c(root, names)
    done = compiled_by_their_sources(root, names) if built else set()
    headers = [name for name in names if name.endswith(".h") and name not in done
               and not name.startswith(tuple(skip))]
    jobs = len(os.sched_getaffinity(0))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        yield from zip(headers, pool.map(
            lambda header: compile_alone(compiler, flags, root, header,
                                         "c" if header in in_c else "c++"), headers))


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
