#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests scripts/gpu_check.sh without a GPU, and scripts/gpu/check.py, which checks the script's results."""

import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "gpu"))
import check  # noqa: E402


def span(stage, name, start, length):
    return {"type": "span", "stage": stage, "name": name, "start_ns": start, "duration_ns": length}


class CheckTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="penstock-gpu-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, *records):
        path = self.folder / name
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        return str(path)

    def run_check(self, *arguments):
        before = sys.argv
        sys.argv = ["check.py", *map(str, arguments)]
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                status = check.main()
        finally:
            sys.argv = before
        return status, printed.getvalue()

    def test_overlapping_intervals_count_once(self):
        self.assertEqual(25, check.union([(0, 10), (5, 15), (30, 40), (32, 33)]))
        self.assertEqual(0, check.union([]))

    def test_copies_of_the_wrong_kind_fail(self):
        trace = self.write("t.jsonl", {"type": "fact", "key": "a", "value": "b"},
                           span("h2d", "H2D pageable", 0, 5), span("h2d", "H2D pageable", 9, 5),
                           span("h2d", "H2D pinned", 20, 5))
        self.assertEqual(0, self.run_check("copies", trace, "pageable")[0])
        # The trace also has copy calls of the program, such as those of its model. They are no copies of the device.
        beside = self.write("beside.jsonl", *(span("h2d", "to:cuda", 30 + i, 1) for i in range(5)),
                            span("h2d", "H2D pinned", 20, 5))
        self.assertEqual(0, self.run_check("copies", beside, "pinned")[0])
        self.assertEqual(1, self.run_check("copies", trace, "pinned")[0])
        self.assertEqual(1, self.run_check("copies", self.write("empty.jsonl"), "pinned")[0])

    def test_kernel_busy_is_compared_between_the_steps_that_count(self):
        records = [span("step", "", 100 * i, 90) for i in range(10)]
        records += [span("kernel", "k", 100 * i, 45) for i in range(5, 10)]
        trace = self.write("t.jsonl", *records)  # 225 of 490
        profiled = self.folder / "profiled.json"
        for share, status in ((0.46, 0), (0.60, 1)):
            profiled.write_text(json.dumps({"kernel_busy": share}), encoding="utf-8")
            self.assertEqual(status, self.run_check("busy", trace, profiled)[0])

    def test_a_slow_fused_kernel_fails_and_others_are_noted(self):
        def row(name, share):
            return {"name": name + "/iterations:3/manual_time", "bytes_per_s": 1e12, "ms_per_megapixel": 0.01,
                    "share_of_peak": share}
        result = self.folder / "kernels.json"
        for share, status in ((0.75, 0), (0.5, 1)):
            rows = [row(name, 0.8) for name in check.FUSED[1:]]
            rows += [row(check.FUSED[0], share), row("with_blur", 0.1)]
            result.write_text(json.dumps({"benchmarks": rows}), encoding="utf-8")
            self.assertEqual(status, self.run_check("bandwidth", result)[0])
        result.write_text(json.dumps({"benchmarks": rows[1:]}), encoding="utf-8")
        self.assertEqual(1, self.run_check("bandwidth", result)[0])
        result.write_text(json.dumps({"benchmarks": []}), encoding="utf-8")
        self.assertEqual(1, self.run_check("bandwidth", result)[0])

    def test_nvjpeg_that_decoded_nothing_fails(self):
        report, log = self.folder / "nvjpeg.json", self.folder / "nvjpeg.log"

        def status_of(decoded, backend, status=0, said=""):
            report.write_text("" if status else json.dumps(
                {"samples_per_s": 10.5, "placement": {"jpeg_backend": backend},
                 "device": {"decoded": decoded, "decoded_on_cpu": 3}}), encoding="utf-8")
            log.write_text(said, encoding="utf-8")
            return self.run_check("decoded", "--status", status, "hybrid", report, log)
        self.assertEqual(0, status_of(5, "hybrid")[0])
        self.assertEqual(1, status_of(0, "hybrid")[0])
        self.assertEqual(1, status_of(5, "hardware")[0])
        self.assertEqual(1, status_of(0, "", 1, "nvJPEG: decoding: execution failed (6)\n")[0])
        self.assertEqual(1, status_of(0, "", 139)[0])
        missing = status_of(0, "", 1, "penstock-load: nvJPEG is unavailable: no library\n")
        self.assertEqual(0, missing[0])
        self.assertTrue(missing[1].startswith("note"), missing[1])

    def test_a_placement_without_runs_fails(self):
        result = self.folder / "placements.json"
        for augment, status in (({"runs": [900.5]}, 0), ({"state": "unavailable", "error": "no CUDA"}, 1)):
            result.write_text(json.dumps({"cells": [
                {"values": {"gpu": "off"}, "runs": [1]}, {"values": {"gpu": "none"}, "runs": [1, 2]},
                {"values": {"gpu": "augment"}, **augment}]}), encoding="utf-8")
            self.assertEqual(status, self.run_check("placements", result)[0])
        result.write_text(json.dumps({"cells": []}), encoding="utf-8")
        self.assertEqual(1, self.run_check("placements", result)[0])

    def test_a_verdict_that_is_not_allowed_fails(self):
        report = self.folder / "report.json"
        report.write_text(json.dumps({"verdict": {"bottleneck": "decode"}}), encoding="utf-8")
        self.assertEqual(0, self.run_check("verdict", "x", report, "read,decode")[0])
        self.assertEqual(1, self.run_check("verdict", "x", report, "compute,none")[0])

    def test_other_bytes_fail(self):
        paths = []
        for name, ordered in (("a", "1f"), ("b", "1f"), ("c", "2e")):
            path = self.folder / name
            path.write_text(json.dumps({"digest": [{"ordered": ordered}]}), encoding="utf-8")
            paths.append(path)
        self.assertEqual(0, self.run_check("digests", "x", paths[0], paths[1])[0])
        self.assertEqual(1, self.run_check("digests", "x", paths[0], paths[2])[0])

    def test_a_costly_level_fails(self):
        # A fake penstock: at the level cupti, the recorded program has the given rate in place of 100.
        train = self.folder / "train"
        train.write_text('#!/bin/sh\necho "{\\"samples_per_s\\": ${RATE:-100}}"\n', encoding="utf-8")
        fake = self.folder / "penstock"
        for rate, status in ((99, 0), (80, 1)):
            fake.write_text('#!/bin/sh\n[ "$3" = cupti ] && export RATE=%d\nshift 7\nexec "$@"\n' % rate,
                            encoding="utf-8")
            for file in (train, fake):
                file.chmod(0o755)
            done = self.run_check("cost", "--pairs", 3, fake, self.folder / "t", "--", train)
            self.assertEqual(status, done[0])
            self.assertRegex(done[1], r"pair 3: .*cupti \+%d" % (100 - rate))
        note = self.run_check("cost", "--pairs", 1, "--note", "--of", "small kernels", fake, self.folder / "t", "--", train)
        self.assertEqual(0, note[0])
        self.assertIn("of the speed of small kernels", note[1])


class ScriptTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="penstock-gpu-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def stand_in(self, name, text):
        """Makes a fake program that writes its name and arguments to the file `calls`."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\necho \"{path.name} $*\" >>'{self.folder}/calls'\n{text}\n", encoding="utf-8")
        path.chmod(0o755)

    def machine(self):
        """Makes the fake programs of a machine with a GPU, on which everything works."""
        self.stand_in("nvidia-smi", "echo 'GPU 0: none'")
        self.stand_in("compute-sanitizer", "exit 0")
        self.stand_in("python", "exit 0")
        for name in ("tests/loader_device_gpu_test", "bin/cuda_augment_bench", "bin/penstock"):
            self.stand_in("build/" + name, "exit 0")
        self.stand_in("build/bin/penstock-load", 'for last; do :; done; [ "$1" != make-set ] || mkdir -p "$last"')
        self.stand_in("build/bin/penstock-sweep", '[ "$1" != --device-costs ] || touch "$2"')

    def run_script(self, *arguments, path=None):
        done = subprocess.run(
            ["/bin/bash", str(ROOT / "scripts" / "gpu_check.sh"), "--out", str(self.folder / "out"), *arguments],
            capture_output=True, text=True, check=False, timeout=60,
            env={**os.environ, "PATH": path or f"{self.folder}:/usr/bin:/bin",
                 "PENSTOCK_BUILD": str(self.folder / "build"), "PENSTOCK_PYTHON": str(self.folder / "python")})
        calls = self.folder / "calls"
        return done, calls.read_text(encoding="utf-8").splitlines() if calls.exists() else []

    def test_without_a_gpu_it_says_so_in_one_line(self):
        if shutil.which("nvidia-smi", path="/usr/bin:/bin"):
            self.skipTest("this machine may have a GPU")
        done, _ = self.run_script(path="/usr/bin:/bin")
        self.assertEqual(3, done.returncode)
        self.assertEqual("", done.stdout)
        self.assertEqual(1, len(done.stderr.splitlines()), done.stderr)

    def test_a_skipped_gpu_test_and_missing_pictures_fail(self):
        self.machine()
        # The GPU test would be skipped, but PENSTOCK_REQUIRE_GPU makes it fail. compute-sanitizer is not supported.
        self.stand_in("compute-sanitizer", "echo '========= Error: Device not supported'; exit 1")
        self.stand_in("build/tests/loader_device_gpu_test", '[ "$PENSTOCK_REQUIRE_GPU" = 1 ] && exit 1; exit 0')
        self.stand_in("build/bin/cuda_augment_bench", "exit 1")
        self.stand_in("build/bin/penstock-load", "echo 'no room' >&2; for last; do :; done; mkdir -p \"$last\"; exit 1")
        done, _ = self.run_script()
        self.assertEqual(1, done.returncode, done.stdout + done.stderr)
        self.assertIn("FAILED  kernels against goldens", done.stdout)
        self.assertRegex(done.stdout, "note +compute-sanitizer: .*not supported")
        self.assertRegex(done.stdout, "FAILED  pictures to load .*: loader is not checked")
        self.assertIn("no room", done.stderr)
        self.assertFalse((self.folder / "out" / "set").exists())
        self.assertIn("\nFAILED, of kernels, loader, agent, cost: ", done.stdout)

    def test_all_sections_run_unless_some_are_named(self):
        self.machine()
        done, calls = self.run_script()
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertEqual(["kernels", "loader", "agent", "cost"],
                         re.findall(r"^ +(\w+): \d+ s$", done.stdout, re.MULTILINE))
        self.assertIn("\nkernels, loader, agent, cost: all claims", done.stdout)
        # make-set is called twice: for the set of all sections, and for the large pictures of gpu-hybrid.
        self.assertEqual(2, sum("make-set" in call for call in calls), calls)

    def test_a_section_runs_apart_and_makes_what_it_needs(self):
        # For each section: a call that no other section makes, and whether the section needs pictures.
        marks = {"kernels": ("cuda_augment_bench ", False), "loader": ("penstock-sweep ", True),
                 "agent": ("check.py copies", True), "cost": ("check.py cost", True)}
        for only, (own, pictures) in marks.items():
            with self.subTest(only):
                shutil.rmtree(self.folder)
                self.machine()
                done, calls = self.run_script("--only", only)
                self.assertEqual(0, done.returncode, done.stdout + done.stderr)
                self.assertIn(f"\n{only}: all claims", done.stdout)
                for name, (call, _) in marks.items():
                    self.assertEqual(name == only, any(call in made for made in calls), (name, calls))
                self.assertEqual(own.startswith("cuda"), any("compute-sanitizer" in made for made in calls))
                self.assertEqual(pictures, any("make-set" in made for made in calls), calls)

    def test_sections_run_once_and_in_their_order(self):
        self.machine()
        (self.folder / "out" / "set").mkdir(parents=True)
        done, calls = self.run_script("--only", "cost,kernels,cost", "--pairs", "6")
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertIn("\nkernels, cost: all claims", done.stdout)
        self.assertEqual(1, sum("cost --pairs 6 " in call for call in calls), calls)
        self.assertFalse(any("make-set" in call for call in calls), calls)

    def test_without_pytorch_the_agent_is_noted(self):
        self.machine()
        self.stand_in("python", '[ "$1" != -c ]')
        done, calls = self.run_script("--only", "agent,cost")
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertEqual(2, len(re.findall("^note .*no PyTorch.* is not checked$", done.stdout, re.MULTILINE)))
        self.assertFalse(any(call.startswith("penstock") for call in calls), calls)

    def test_unknown_options_are_usage_errors(self):
        for arguments in (["--fast"], ["--only"], ["--only", ""], ["--only", ","], ["--only", "kernel"],
                          ["--only", "kernels,gpu"], ["--only", "cost", "--samples"], ["--pairs", "0"],
                          ["--pairs", "many"]):
            with self.subTest(arguments):
                self.machine()
                done, calls = self.run_script(*arguments)
                self.assertEqual(2, done.returncode, done.stdout)
                self.assertEqual(("", []), (done.stdout, calls))
                self.assertIn("sections: kernels loader agent cost", done.stderr)

    def test_help_names_the_sections(self):
        done, calls = self.run_script("--help")
        self.assertEqual((0, []), (done.returncode, calls))
        for section in ("kernels", "loader", "agent", "cost"):
            self.assertRegex(done.stdout, f"\n +{section} ")


if __name__ == "__main__":
    unittest.main()
