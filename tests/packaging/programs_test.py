# SPDX-License-Identifier: Apache-2.0
"""`cmake --install` and `cpack` work right after `cmake --build --target penstock_programs`, as README.md builds: this
target makes every file that they take from the build tree. Compile commands are the same in every clone. These tests
read the rules of the build folder and build nothing."""
import json
import os
import re
import shlex
import subprocess
import unittest

BUILD = os.path.realpath(os.environ.get("PENSTOCK_BUILD", ""))
NINJA = os.environ.get("PENSTOCK_NINJA", "ninja")
WORD = re.compile(r'"(/[^"]*)"')


def ninja(*words):
    return subprocess.run([NINJA, "-C", BUILD, "-t", *words], text=True, stdout=subprocess.PIPE, timeout=120,
                          check=True).stdout.splitlines()  # fmt: skip


def in_build(name):
    return os.path.normpath(os.path.join(BUILD, name))


def needed_by(target):
    """Returns the files that ninja makes for a target. `ninja -t inputs` leaves out files that only phony targets name,
    so this follows the phony targets."""
    needed, ahead = set(ninja("inputs", target)), [target]
    while ahead:
        lines = ninja("query", ahead.pop())
        at = next((i for i, line in enumerate(lines) if line.startswith("  input: phony")), None)
        if at is not None:
            stop = lines.index("  outputs:")
            found = {line.strip().removeprefix("| ").removeprefix("|| ") for line in lines[at + 1:stop]}
            ahead += found - needed
            needed |= found
    return {in_build(name) for name in needed}


def taken_by_install():
    """Returns the files of the build tree that a cmake_install.cmake names."""
    taken = set()
    for path, folders, files in os.walk(BUILD):
        folders[:] = [folder for folder in folders if folder not in ("CMakeFiles", "Testing", "_CPack_Packages")]
        if "cmake_install.cmake" in files:
            with open(os.path.join(path, "cmake_install.cmake"), encoding="utf-8") as file:
                for call in re.findall(r"file\(INSTALL .*?\)\n", file.read(), re.DOTALL):
                    taken |= {name for name in WORD.findall(call) if name.startswith(BUILD + os.sep)}
    return taken


class Programs(unittest.TestCase):
    def test_what_is_installed_is_built_by_the_target_programs(self):
        made = {in_build(line.rsplit(": ", 1)[0]) for line in ninja("targets", "all")}
        programs = needed_by("penstock_programs")
        taken = taken_by_install()
        self.assertGreater(len(taken), 20)
        self.assertEqual([], sorted(name for name in taken & made if name not in programs))
        for name in taken - made:  # ninja does not make these: CMake wrote them when it configured the build
            self.assertTrue(os.path.exists(name), name)


class Commands(unittest.TestCase):
    def test_no_macro_holds_a_path_of_this_clone(self):
        """With such a macro, ccache does not find what another clone has compiled. penstock_paths() avoids that."""
        with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
            entries = json.load(file)
        self.assertGreater(len(entries), 100)
        root = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
        found = {word for entry in entries for word in shlex.split(entry["command"])
                 if word.startswith("-D") and (root in word or BUILD in word)}  # fmt: skip
        self.assertEqual([], sorted(found))


if __name__ == "__main__":
    unittest.main(verbosity=2)
