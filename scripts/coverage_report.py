# SPDX-License-Identifier: Apache-2.0
"""Counts for each source folder the lines and branches that gcov saw executed. scripts/coverage.sh runs it."""

import argparse
import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

FOLDERS = ("agent/gpu", "agent/record", "agent", "traces")


def folder_of(name):
    for folder in FOLDERS:
        if name.startswith(folder + "/"):
            return folder
    return None


def read(build, root):
    """Returns ({file: {line: count}}, {file: {(line, branch): count}}). A count is the largest one of all objects
    that have code of the file."""
    lines = collections.defaultdict(lambda: collections.defaultdict(int))
    branches = collections.defaultdict(lambda: collections.defaultdict(int))
    notes = sorted(build.rglob("*.gcno"))
    with tempfile.TemporaryDirectory() as scratch:
        for note in notes:
            if "/tests/" in str(note.relative_to(build)):
                continue
            made = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", str(note)],
                                  cwd=scratch, capture_output=True, check=False).stdout
            for text in (gzip.decompress(made) if made[:2] == b"\x1f\x8b" else made).splitlines():
                add(json.loads(text), build, root, lines, branches)
    return lines, branches


def add(told, build, root, lines, branches):
    for entry in told["files"]:
        path = pathlib.Path(told.get("current_working_directory", build), entry["file"]).resolve()
        if not path.is_relative_to(root):
            continue
        name = str(path.relative_to(root))
        if folder_of(name) is None:
            continue
        for line in entry["lines"]:
            number = line["line_number"]
            lines[name][number] = max(lines[name][number], line["count"])
            for i, branch in enumerate(b for b in line["branches"] if not b["throw"]):
                branches[name][number, i] = max(branches[name][number, i], branch["count"])


def share(counts):
    taken = sum(1 for count in counts if count > 0)
    return f"{taken:6d} of {len(counts):6d}  {100 * taken / max(1, len(counts)):5.1f} %"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--uncovered", type=int, default=0)
    arguments = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent
    lines, branches = read(arguments.build.resolve(), root)
    if not lines:
        print("coverage: nothing was counted", file=sys.stderr)
        return 1
    print(f"{'folder':14} {'lines':>26} {'branches':>26}")
    for folder in (*sorted(FOLDERS), None):
        names = [n for n in lines if folder is None or folder_of(n) == folder]
        print(f"{folder or 'all':14} {share([c for n in names for c in lines[n].values()]):>26} "
              f"{share([c for n in names for c in branches[n].values()]):>26}")
    if arguments.uncovered:
        missing = {n: [at for at, count in of.items() if count == 0] for n, of in branches.items()}
        print("\nbranches not taken, by file:")
        for name in sorted(missing, key=lambda n: -len(missing[n]))[:arguments.uncovered]:
            where = sorted({line for line, _ in missing[name]})
            print(f"{len(missing[name]):5d} of {len(branches[name]):5d}  {name}: "
                  + " ".join(map(str, where[:40])) + (" ..." if len(where) > 40 else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
