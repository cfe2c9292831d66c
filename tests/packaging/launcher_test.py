#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The command `penstock` that a wheel puts into bin/ finds the package `penstock` in every layout that pip uses.
`python -m penstock` finds it too."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
LAYOUTS = ("lib/python3.9/site-packages", "lib64/python3.12/site-packages", "lib/python3/dist-packages",
           "local/lib/python3.11/dist-packages", ".")  # fmt: skip


class Launcher(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="penstock launcher ")
        cls.launcher = os.path.join(cls.folder, "launcher")
        subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-O1", "-D_GNU_SOURCE", '-DPENSTOCK_VERSION="1.2.3"', "-o",
                        cls.launcher, os.path.join(ROOT, "python", "launcher.c")], check=True)  # fmt: skip

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def setUp(self):
        self.prefix = tempfile.mkdtemp(dir=self.folder)
        os.mkdir(os.path.join(self.prefix, "bin"))
        self.command = os.path.join(self.prefix, "bin", "penstock")
        shutil.copy(self.launcher, self.command)

    def package(self, layout, version):
        """Makes a package whose program prints `version` and its arguments. Returns its folder."""
        package = os.path.join(self.prefix, layout, "penstock")
        os.makedirs(os.path.join(package, "bin"))
        shutil.copytree(os.path.join(ROOT, "python", "penstock"), package, dirs_exist_ok=True)
        open(os.path.join(package, "VERSION-" + version), "w", encoding="utf-8").close()
        program = os.path.join(package, "bin", "penstock")
        with open(program, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\necho "%s $*"\nexit 7\n' % version)
        os.chmod(program, 0o755)
        libraries = os.path.join(package, "lib", "penstock")
        os.makedirs(libraries, exist_ok=True)
        open(os.path.join(libraries, "libpenstock_agent.so"), "w", encoding="utf-8").close()
        return package

    def run_it(self, command=None):
        return subprocess.run([command or self.command, "report", "a b"], capture_output=True, text=True, check=False)

    def test_every_layout_of_pip(self):
        for layout in LAYOUTS:
            with self.subTest(layout=layout):
                package = self.package(layout, "1.2.3")
                outcome = self.run_it()
                self.assertEqual((outcome.stdout, outcome.returncode), ("1.2.3 report a b\n", 7))
                shutil.rmtree(package)

    def test_a_link_to_it(self):
        self.package(LAYOUTS[0], "1.2.3")
        link = os.path.join(self.folder, "penstock")
        os.symlink(self.command, link)
        self.assertEqual(self.run_it(link).returncode, 7)

    def test_the_one_of_its_version(self):
        self.package("lib/python3.9/site-packages", "1.2.2")
        self.package("lib/python3.12/site-packages", "1.2.3")
        self.package("lib/python3.13/site-packages", "1.3.0")
        self.assertEqual(self.run_it().stdout, "1.2.3 report a b\n")

    def test_says_that_there_is_none(self):
        self.package(LAYOUTS[0], "1.2.2")
        outcome = self.run_it()
        self.assertEqual(outcome.returncode, 127)
        self.assertEqual(outcome.stdout, "")
        self.assertEqual(len(outcome.stderr.splitlines()), 1)
        self.assertIn("penstock-profiler 1.2.3", outcome.stderr)

    def test_the_module(self):
        package = self.package(LAYOUTS[0], "1.2.3")
        where = dict(os.environ, PYTHONPATH=os.path.dirname(package), PYTHONDONTWRITEBYTECODE="1")
        outcome = subprocess.run([sys.executable, "-m", "penstock", "x"], capture_output=True, text=True, env=where,
                                 check=False)  # fmt: skip
        self.assertEqual((outcome.stdout, outcome.returncode), ("1.2.3 x\n", 7))
        code = "import penstock; print(penstock.__version__, penstock.program(), penstock.agent()); penstock.program('no')"
        outcome = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=where, check=False)
        self.assertEqual(outcome.stdout.split("\n")[0], "1.2.3 %s/bin/penstock %s/lib/penstock/libpenstock_agent.so" % (
            package, package))  # fmt: skip
        self.assertIn("FileNotFoundError: penstock has no program 'no'", outcome.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
