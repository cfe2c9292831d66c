# SPDX-License-Identifier: Apache-2.0
"""Runs programs with packages of our own that have the names of real ones, and counts the spans of their calls."""
import collections
import os
import tempfile
import unittest

import harness


def run(files, code):
    """Runs `code` with packages made of `files` (path -> text) on its path."""
    with tempfile.TemporaryDirectory(prefix="penstock-") as directory:
        for path, text in files.items():
            target = os.path.join(directory, path)
            package = directory
            for folder in path.split("/")[:-1]:
                package = os.path.join(package, folder)
                os.makedirs(package, exist_ok=True)
                open(os.path.join(package, "__init__.py"), "a").close()
            with open(target, "w") as file:
                file.write(text)
        return harness.run(code, path=[directory])


def counted(result):
    return dict(collections.Counter((s["stage"], s["name"]) for s in result.of("span")))


PIXELS = """
class Pixels:
    def __init__(self, *shape):
        self.shape = shape
        self.nbytes = 1
        for size in shape:
            self.nbytes *= size
"""


class Checked(unittest.TestCase):
    def check(self, result):
        self.assertEqual((result.status, result.err), (0, ""))
        return counted(result)
