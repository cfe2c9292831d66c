#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the scripts of the wheel without building a real one: their usage errors, and scripts/wheel/check.py on small
wheels that the tests make."""

import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/wheel"))
import check  # noqa: E402

HERE = os.uname().machine
OTHER = {"x86_64": "aarch64", "aarch64": "x86_64"}.get(HERE)
E_MACHINE = {"x86_64": 62, "aarch64": 183}


def run(*command):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          stdin=subprocess.DEVNULL, check=False)  # fmt: skip


class UsageTest(unittest.TestCase):
    def assert_refused(self, script, said, *arguments):
        done = run(ROOT / "scripts" / script, *arguments)
        self.assertEqual((2, ""), (done.returncode, done.stdout), arguments)
        self.assertIn(said, done.stderr)
        self.assertIn(f"usage: scripts/{script}", done.stderr)

    def test_build_wheel_refuses_what_it_does_not_know(self):
        for said, arguments in (("--machine wants", ["--machine"]), ("for riscv64 cannot", ["--machine", "riscv64"]),
                                ("for  cannot", ["--machine="]), ("no option --help-me", ["--help-me"]),
                                ("one folder", ["a", "b"]), ("empty name", [""])):  # fmt: skip
            self.assert_refused("build_wheel.sh", said, *arguments)

    def test_test_wheel_refuses_what_it_does_not_know(self):
        with tempfile.NamedTemporaryFile(suffix=f"manylinux_2_28_{HERE}.whl") as wheel:
            self.assert_refused("test_wheel.sh", "bookworm", "/nowhere/at_all.whl")
            self.assert_refused("test_wheel.sh", "bookworm", wheel.name, "buster")


@unittest.skipUnless(OTHER and shutil.which("readelf"), "readelf is missing, or this machine has no wheel")
class CheckTest(unittest.TestCase):
    """The program in these wheels is a copy of this machine's readelf. It is linked dynamically and needs a newer glibc
    than 2.2."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="penstock-wheel-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.program = pathlib.Path(shutil.which("readelf")).read_bytes()

    def wheel(self, machine, parts=check.PARTS, program=b""):
        path = os.path.join(self.folder, f"penstock_profiler-0-py3-none-manylinux_2_28_{machine}.whl")
        with zipfile.ZipFile(path, "w") as archive:
            for part in parts:
                archive.writestr(f"penstock_profiler-0{part}" if part.startswith(".data") else part, b"text")
            if program:
                archive.writestr("penstock/bin/another", program)
        return path

    def check(self, path, *arguments):
        return run(sys.executable, "-B", ROOT / "scripts/wheel/check.py", path, *arguments)

    def test_a_wheel_with_all_its_parts_is_right(self):
        done = self.check(self.wheel(HERE))
        self.assertEqual((0, ""), (done.returncode, done.stderr))

    def test_what_is_missing_is_named(self):
        done = self.check(self.wheel(HERE, parts=check.PARTS[1:]))
        self.assertEqual(1, done.returncode)
        self.assertIn(f"has no {check.PARTS[0]}\n", done.stderr)

    def test_a_program_for_a_newer_system_is_named(self):
        done = self.check(self.wheel(HERE, program=self.program), "--glibc", "2.2")
        self.assertEqual(1, done.returncode)
        self.assertIn("penstock/bin/another needs glibc 2.", done.stderr)

    def test_a_program_for_another_machine_is_named(self):
        moved = bytearray(self.program)
        moved[18:20] = struct.pack("<H", E_MACHINE[OTHER])
        done = self.check(self.wheel(HERE, program=bytes(moved)), "--glibc", "99.0")
        self.assertEqual(1, done.returncode)
        self.assertIn(f"penstock/bin/another is for {check.MACHINES[OTHER][0]}\n", done.stderr)

    def test_another_machines_wheel_wants_its_name(self):
        self.assertEqual(0, self.check(self.wheel(OTHER), "--machine", OTHER).returncode)
        done = self.check(self.wheel(OTHER), "--machine", HERE)
        self.assertEqual(1, done.returncode)
        self.assertIn(f"its name does not end in {HERE}\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
