# SPDX-License-Identifier: Apache-2.0
"""The report of every trace in the tree fits a terminal of 80 columns, also with all details.

Only a line of a single word may be longer, such as a path to paste. The test also looks for figures that say nothing,
such as "-0.0 %".
"""
import concurrent.futures
import os
import re
import subprocess
import sys
import unicodedata
import unittest

import runs
from contradictions_test import TRACES

COLUMNS = 80
EMPTY_FIGURE = re.compile(r"[-+]0\.0 %|\bnan\b|\binf\b")


def columns(line):
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in line)


def faults(text):
    """Yields each line that is too wide or has an empty figure."""
    for line in text.split("\n"):
        if columns(line) > COLUMNS and len(line.split()) > 1:
            yield f"{columns(line)} columns: {line}"
        if EMPTY_FIGURE.search(line):
            yield f"an empty figure: {line}"


class Width(unittest.TestCase):
    def test_every_report_fits_eighty_columns(self):
        program = runs.program("penstock")
        if not os.access(program, os.X_OK):
            self.skipTest("penstock is not built")
        self.assertGreater(len(TRACES), 100)

        def ask(trace):
            found = []
            for options in ([], ["--verbose"]):
                done = subprocess.run([program, "report", str(trace), *options], capture_output=True, check=True,
                                      env={**os.environ, "COLUMNS": "200"})  # fmt: skip
                found += [f"{trace.name} {options}: {one}" for one in faults(done.stdout.decode())]
            return found

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = [one for several in pool.map(ask, TRACES) for one in several]
        self.assertEqual([], found)

    def test_the_check_finds_what_is_wrong(self):
        self.assertEqual([], list(faults("  wait         4 % of the loop\n  " + "x" * 90)))
        self.assertEqual(1, len(list(faults("word " * 17))))
        self.assertEqual(1, len(list(faults("with an error of -0.0 %"))))
        self.assertEqual([], list(faults("with an error of -10.0 %")))


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
