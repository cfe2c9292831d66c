#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares every text that is made of a run, in both languages, with golden/NAME.txt.

The files are rewritten by: golden.py --program BUILD/tests/gui_golden_texts --rewrite
"""

import argparse
import difflib
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent / "golden"
RUNS = ("decode", "compute", "no_workers", "short", "no_batches", "startup", "uneven", "cold_reads")


def lines_of(program, run):
    text = subprocess.run([program, run], check=True, capture_output=True, text=True).stdout
    return [line.rstrip() for line in text.splitlines()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--rewrite", action="store_true")
    options = parser.parse_args()
    differing = 0
    for run in RUNS:
        lines = lines_of(options.program, run)
        golden = FOLDER / f"{run}.txt"
        if options.rewrite:
            golden.write_text("\n".join(lines) + "\n")
            continue
        for line in difflib.unified_diff(golden.read_text().splitlines(), lines, str(golden), "now",
                                         lineterm="", n=0):
            differing = 1
            print(line)
    return differing


if __name__ == "__main__":
    sys.exit(main())
