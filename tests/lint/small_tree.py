# SPDX-License-Identifier: Apache-2.0
"""A test case with a temporary tree, into which it writes the files to be checked."""

import pathlib
import shutil
import tempfile
import unittest

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"


class SmallTree(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="penstock-lint-"))
        self.addCleanup(shutil.rmtree, self.root)

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)
