# SPDX-License-Identifier: Apache-2.0
"""Tests `cmake --install` into a folder with a blank in its name: the programs, the agent, manual pages, completions,
and the CMake package for other projects. These tests do not need PyTorch."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("PENSTOCK_BUILD", "")
CMAKE = os.environ.get("PENSTOCK_CMAKE", "cmake")
PYTHON = "/usr/bin/python3"
TIMEOUT = 240
NOBODY = 65534


def environment():
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PENSTOCK") and key != "LD_PRELOAD"}
    kept.pop("DESTDIR", None)
    return kept


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = tempfile.mkdtemp(prefix="penstock installed ")
        os.chmod(cls.base, 0o755)
        cls.prefix = os.path.join(cls.base, "first place")
        done = subprocess.run([CMAKE, "--install", BUILD, "--prefix", cls.prefix], env=environment(), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT, check=False)  # fmt: skip
        if done.returncode != 0:
            raise AssertionError(done.stdout)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.base, ignore_errors=True)

    def run_(self, command, status=0, **options):
        done = subprocess.run(command, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.PIPE, timeout=TIMEOUT, check=False, **options)  # fmt: skip
        self.assertEqual(done.returncode, status, "%s\n%s\n%s" % (command, done.stdout, done.stderr))
        return done.stdout

    def program(self, name):
        return os.path.join(self.prefix, "bin", name)

    def programs(self):
        return sorted(glob.glob(self.program("penstock*")))


class Installed(Case):
    def record(self, folder, **options):
        """Records a Python program that reads a picture file, and returns the report on the trace."""
        os.makedirs(os.path.join(folder, "some data"))
        picture = os.path.join(folder, "some data", "one.jpg")
        with open(picture, "wb") as file:
            file.write(os.urandom(50000))
        for path, _folders, _files in os.walk(folder):
            os.chmod(path, 0o777)
        script = "import json\nfor i in range(5):\n    open('some data/one.jpg', 'rb').read()\nprint('done')"
        output = self.run_([self.program("penstock"), "record", "--quiet", "-o", "run of today.penstock", "--", PYTHON,
                            "-c", script], cwd=folder, **options)  # fmt: skip
        self.assertEqual(output, "done\n")
        trace = os.path.join(folder, "run of today.penstock")
        return json.loads(self.run_([self.program("penstock"), "report", trace, "--json"], cwd=folder))

    def assertReads(self, report):
        reads = [stage for stage in report["stages"] if stage["name"] == "read"]
        self.assertEqual([(stage["count"], stage["bytes"]) for stage in reads], [(5, 250000)], report["stages"])

    def test_every_program_helps_and_tells_its_version(self):
        self.assertGreaterEqual(len(self.programs()), 6)
        for program in self.programs():
            self.assertIn("sage:", self.run_([program, "--help"]))
            self.assertRegex(self.run_([program, "--version"]), r"^%s [0-9.]+\n$" % os.path.basename(program))
        for command in ("report", "whatif", "plan", "compare", "share", "tune", "doctor", "record", "export", "validate"):
            self.assertIn("sage:", self.run_([self.program("penstock"), command, "--help"]))
            self.assertRegex(self.run_([self.program("penstock"), command, "--version"]), r"^penstock[ -]\w+ [0-9.]+\n$")

    def test_records_from_a_folder_with_blanks(self):
        self.assertReads(self.record(os.path.join(self.base, "work of today")))

    def test_python_half_is_found(self):
        folder = os.path.join(self.base, "hooks")
        os.makedirs(folder)
        script = "import sys; print('penstock_hooks' in sys.modules)"
        self.assertEqual(self.run_([self.program("penstock"), "record", "--quiet", "--", PYTHON, "-c", script], cwd=folder),
                         "True\n")  # fmt: skip

    def test_the_python_package_works_from_there(self):
        folder = os.path.join(self.base, "from Python")
        os.makedirs(folder)
        script = """
import sys
sys.path.insert(0, sys.argv[1])
import penstock
print(penstock.__file__, penstock.program())
try:
    penstock.open("nothing.penstock")
except penstock.TraceError as error:
    print(error)
try:
    penstock.Loader("no set", output="u8")
except FileNotFoundError:
    print("built without the loader")
except penstock.LoaderError as error:
    print(error)
"""
        package = os.path.join(self.prefix, "lib", "penstock", "python")
        lines = self.run_([PYTHON, "-S", "-c", script, package],
                          cwd=folder).splitlines()  # fmt: skip
        self.assertEqual("%s %s" % (os.path.join(package, "penstock", "__init__.py"), self.program("penstock")), lines[0])
        self.assertIn("nothing.penstock", lines[1])
        self.assertRegex(lines[2], "no set|without the loader")

    def test_records_as_another_user(self):
        if os.geteuid() != 0:
            self.skipTest("only root becomes somebody else")
        folder = os.path.join(self.base, "of nobody")
        os.makedirs(folder)
        self.assertReads(self.record(os.path.join(folder, "work"), user=NOBODY, group=NOBODY, extra_groups=[]))

    def test_works_where_it_is_moved_to(self):
        moved = os.path.join(self.base, "second place")
        shutil.move(self.prefix, moved)
        try:
            self.prefix = moved
            self.assertReads(self.record(os.path.join(self.base, "after the move")))
        finally:
            shutil.move(moved, type(self).prefix)
            del self.prefix

    def test_every_program_has_a_manual_page(self):
        pages = os.path.join(self.prefix, "share", "man", "man1")
        if not os.path.isdir(pages):
            self.skipTest("built without help2man")
        names = {os.path.basename(page)[:-2] for page in glob.glob(os.path.join(pages, "*.1"))}
        for program in self.programs():
            self.assertIn(os.path.basename(program), names)
        for name in names:
            with open(os.path.join(pages, name + ".1"), encoding="utf-8") as file:
                text = file.read()
            self.assertIn(".SH NAME\n%s \\- " % name, text)
            self.assertIn("--help" if "\\-\\-help" not in text else "\\-\\-help", text)


class Consumer(Case):
    def setUp(self):
        self.build = os.path.join(self.base, "consumer")
        self.run_([CMAKE, "-S", os.path.join(HERE, "consumer"), "-B", self.build, "-G", "Ninja",
                   "-DCMAKE_PREFIX_PATH=" + self.prefix])  # fmt: skip
        self.run_([CMAKE, "--build", self.build])

    def test_marks_are_read_back(self):
        reads = os.path.join(self.build, "reads")
        for name in ("marked", "marked_cxx"):
            marked = os.path.join(self.build, name)
            self.assertEqual(self.run_([marked]), "alone\n")
            trace = os.path.join(self.base, name + ".penstock")
            self.assertEqual(self.run_([self.program("penstock-record"), "--quiet", "-o", trace, "--", marked]), "recorded\n")
            lines = self.run_([reads, trace]).splitlines()
            for sample in range(12):
                self.assertIn("read own_read %d %d 1000 /data/picture.jpg" % (sample // 4, sample), lines)
                self.assertIn("decode own_decode %d %d 3000 " % (sample // 4, sample), lines)
            self.assertEqual(sum(line.startswith("sample ") for line in lines), 12)
        self.run_([reads, os.path.join(self.build, "CMakeCache.txt")], status=4)


class Completion(Case):
    def complete(self, *words):
        script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _penstock; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')  # fmt: skip
        file = os.path.join(self.prefix, "share", "bash-completion", "completions", "penstock")
        return self.run_(["bash", "--norc", "-c", script, "bash", file, *words]).split()

    def test_commands_and_options(self):
        penstock = self.program("penstock")
        self.assertEqual(self.complete(penstock, "rep"), ["report"])
        self.assertLessEqual({"record", "whatif", "plan", "tune", "load"}, set(self.complete(penstock, "")))
        self.assertEqual(self.complete(penstock, "whatif", "--work"), ["--workers"])
        self.assertEqual(self.complete(penstock, "record", "--fixed"), ["--fixed-batch"])
        self.assertIn("--override", self.complete(self.program("penstock-record"), "--o"))

    def test_files(self):
        self.assertIn(HERE + "/install_test.py", self.complete(self.program("penstock"), "report", HERE + "/inst"))


if __name__ == "__main__":
    if not BUILD:
        sys.exit("PENSTOCK_BUILD is not set: run this through ctest")
    unittest.main(verbosity=2)
