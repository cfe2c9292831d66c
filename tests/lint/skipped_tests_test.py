# SPDX-License-Identifier: Apache-2.0
"""Checks that scripts/skipped_tests.py finds every kind of skipped test in the output of ctest."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "skipped_tests.py"


def one_of(name, output, status="run", label=""):
    properties = '<properties><property name="cmake_labels" value="%s"/></properties>' % label if label else ""
    return '<testcase name="%s" status="%s">%s<system-out>%s</system-out></testcase>' % (name, status, properties, output)


class SkippedTests(unittest.TestCase):
    def run_(self, *cases, strict=False, gpu_tests=""):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "tests.xml"
            file.write_text("<testsuite>" + "".join(cases) + "</testsuite>", encoding="utf-8")
            names = pathlib.Path(folder) / "gpu.txt"
            names.write_text(gpu_tests, encoding="utf-8")
            done = subprocess.run([sys.executable, "-B", SCRIPT, file, "--gpu-tests", names, *(["--strict"] if strict else [])],
                                  text=True, stdout=subprocess.PIPE, check=False)  # fmt: skip
        return done.returncode, done.stdout.splitlines()

    def test_what_passed_is_not_named(self):
        self.assertEqual((0, []), self.run_(one_of("a", "Ran 3 tests\n\nOK\n"), strict=True))

    def test_tests_that_did_not_run_are_named_with_their_reason(self):
        cases = [one_of("io", "[ RUN ]\n/x/io_test.cc:114: Skipped\nio_uring is not available\n\n[  SKIPPED ]", "notrun"),
                 one_of("torch.absent", "skipped: torch is missing", "notrun"),
                 one_of("off", "Disabled", "disabled")]  # fmt: skip
        self.assertEqual((1, ["io (io_uring is not available)", "torch.absent (torch is missing)", "off (disabled)"]),
                         self.run_(*cases, strict=True))  # fmt: skip
        self.assertEqual(0, self.run_(*cases)[0])

    def test_the_format_is_checked_where_its_version_is(self):
        self.assertEqual((0, ["lint.format.absent (this system has no clang-format 14) [checked on Debian 12]"]),
                         self.run_(one_of("lint.format.absent", "skipped: this system has no clang-format 14", "notrun"),
                                   strict=True))  # fmt: skip
        self.assertEqual(1, self.run_(one_of("lint.format.absent", "skipped: clang-format-14 is missing", "notrun"),
                                      strict=True)[0])  # fmt: skip

    def test_a_gpu_may_be_missing(self):
        self.assertEqual((0, ["GpuTest.Pixels (no driver) [needs a GPU]"]),
                         self.run_(one_of("GpuTest.Pixels", "g.cc:27: Skipped\nno driver\n", "notrun", "gpu"), strict=True))  # fmt: skip

    def test_tests_that_need_a_gpu_are_known_by_name_where_there_are_no_labels(self):
        case = one_of("GpuTest.Pixels", "g.cc:27: Skipped\nno driver\n", "notrun")
        self.assertEqual((0, ["GpuTest.Pixels (no driver) [needs a GPU]"]),
                         self.run_(case, strict=True, gpu_tests="other\nGpuTest.Pixels\n"))  # fmt: skip
        self.assertEqual(1, self.run_(case, strict=True)[0])

    def test_cases_inside_a_test_that_passed_are_named(self):
        output = ("test_mounts (hostile_test.Hostile.test_mounts) ... skipped 'no mount'\n"
                  "setUpClass (memory_test.Small) ... skipped \"isn't there\"\nOK (skipped=3)\n")  # fmt: skip
        self.assertEqual((1, ["hostile: test_mounts (no mount)", "hostile: setUpClass (isn't there)", "hostile (1 of its cases)"]),
                         self.run_(one_of("hostile", output), strict=True))  # fmt: skip

    def test_tests_of_a_program_that_passed_are_named(self):
        output = ("[ RUN      ] Io.Ring\n/x/io_test.cc:114: Skipped\nio_uring is not available\n\n[  SKIPPED ] Io.Ring (0 ms)\n"
                  "[       OK ] Io.Pages (1 ms)\n[  PASSED  ] 1 test.\n[  SKIPPED ] 1 test, listed below:\n[  SKIPPED ] Io.Ring\n")  # fmt: skip
        self.assertEqual((1, ["io.0: Io.Ring (io_uring is not available)"]), self.run_(one_of("io.0", output), strict=True))

    def test_cases_for_later_versions_may_be_skipped(self):
        output = "test_order (test_loader.L.test_order) ... skipped 'this torch keeps the order'\nOK (skipped=1)\n"
        self.assertEqual((0, ["python_loader: test_order (this torch keeps the order) [needs newer wheels]"]),
                         self.run_(one_of("python_loader", output), strict=True))  # fmt: skip


if __name__ == "__main__":
    unittest.main(verbosity=2)
