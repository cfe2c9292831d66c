#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names the tests that were skipped, and those with skipped cases, which ctest counts as passed.

Run: skipped_tests.py FILE [--gpu-tests NAMES] [--strict] FILE: written by `ctest --output-junit FILE`.
NAMES: a file with the names of the tests that need a GPU, one on each line, since CMake before 3.29
writes no labels.

Prints a line for each skip: the test, the case, and the reason. Exit status 0. With --strict (in continuous
integration) the exit status is 1 if a skip has no accepted reason. Accepted reasons are a GPU that is missing or
present, and software of another version than this system has.
"""
import argparse
import re
import sys
import xml.etree.ElementTree

# Reasons of cases that need later versions than Debian 12's. scripts/test_wheels.sh runs them with current wheels.
NEWER = ("this torch does not know __getitems__", "this torch keeps the order", "no torchvision.transforms.v2",
         "no albumentations", "pandas is not installed", "polars is not installed",
         "pyarrow is not installed")  # fmt: skip
# Reasons of tests that run only on Debian 12.
OLDER = ("this system has no clang-format 14",)
# Reasons of cases that need a machine without a GPU.
WITH_GPU = ("this machine has a GPU", "this machine may have a GPU")

WORDS = {"gpu": " [needs a GPU]", "newer": " [needs newer wheels]", "older": " [checked on Debian 12]"}

CASE = re.compile(r"^(?:(\w+) )?.*\.\.\. skipped (['\"])(.*)\2\s*$", re.MULTILINE)  # unittest, verbose
GTEST = re.compile(r": Skipped\n(.*)\n+\[  SKIPPED \] ([^ ]+) \(", re.MULTILINE)  # many tests in one process
COUNT = re.compile(r"^(?:OK|FAILED) \((?:.*, )?skipped=(\d+)", re.MULTILINE)
REASONS = (re.compile(r"^skipped: *(.*)$", re.MULTILINE),  # our scripts
           re.compile(r"^.*: Skipped\n(.*)$", re.MULTILINE))  # GoogleTest  # fmt: skip


def skipped(root, gpu_tests=frozenset()):
    """Yields (test, reason, needed) for each skip. `needed` is "gpu", "newer" or "older" if the reason is accepted."""
    for test in root.iter("testcase"):
        name = test.get("name")
        output = test.findtext("system-out") or ""
        labels = [one.get("value", "") for one in test.iter("property") if one.get("name") == "cmake_labels"]
        gpu = name in gpu_tests or any("gpu" in value.split(";") for value in labels)
        cases = [(case, reason) for case, _, reason in CASE.findall(output)]
        cases += [(case, reason) for reason, case in GTEST.findall(output)]
        if test.get("status") in ("notrun", "disabled"):
            found = next((one.group(1) for one in (reason.search(output) for reason in REASONS) if one), "")
            reason = found or ("; ".join(sorted({reason for _, reason in cases})) or test.get("status"))
            yield name, reason, "gpu" if gpu else "older" if reason in OLDER else ""
            continue
        for case, reason in cases:
            needed = "gpu" if gpu or reason in WITH_GPU else "newer" if reason in NEWER else ""
            yield name + (": " + case if case else ""), reason, needed
        unnamed = sum(int(count) for count in COUNT.findall(output)) - len(CASE.findall(output))
        if unnamed > 0:
            yield name, "%d of its cases" % unnamed, "gpu" if gpu else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--gpu-tests")
    parser.add_argument("--strict", action="store_true")
    options = parser.parse_args()
    bad, gpu_tests = 0, frozenset()
    if options.gpu_tests:
        with open(options.gpu_tests, encoding="utf-8") as file:
            gpu_tests = frozenset(file.read().splitlines())
    for name, reason, needed in skipped(xml.etree.ElementTree.parse(options.file).getroot(), gpu_tests):
        bad += not needed
        print("%s (%s)%s" % (name, reason, WORDS.get(needed, "")))
    return 1 if bad and options.strict else 0


if __name__ == "__main__":
    sys.exit(main())
