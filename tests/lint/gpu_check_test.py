#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/gpu_check.sh without a GPU, and what it claims of results: scripts/gpu/check.py."""

import contextlib
import io
import json
import os
import pathlib
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
            return {"name": name + "/manual_time", "bytes_per_s": 1e12, "ms_per_megapixel": 0.01,
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
        # A penstock of our own that slows what it records by a fifth at the level cupti.
        train = self.folder / "train"
        train.write_text('#!/bin/sh\necho "{\\"samples_per_s\\": ${RATE:-100}}"\n', encoding="utf-8")
        fake = self.folder / "penstock"
        for rate, status in ((99, 0), (80, 1)):
            fake.write_text('#!/bin/sh\n[ "$3" = cupti ] && export RATE=%d\nshift 6\nexec "$@"\n' % rate,
                            encoding="utf-8")
            for file in (train, fake):
                file.chmod(0o755)
            self.assertEqual(status, self.run_check("cost", "--pairs", 3, fake, self.folder / "t", "--",
                                                    train)[0])


class ScriptTest(unittest.TestCase):
    def test_without_a_gpu_it_says_so_in_one_line(self):
        if shutil.which("nvidia-smi", path="/usr/bin:/bin"):
            self.skipTest("this machine may have a GPU")
        done = subprocess.run(["/bin/bash", str(ROOT / "scripts" / "gpu_check.sh")], capture_output=True,
                              text=True, check=False, timeout=60, env={**os.environ, "PATH": "/usr/bin:/bin"})
        self.assertEqual(3, done.returncode)
        self.assertEqual("", done.stdout)
        self.assertEqual(1, len(done.stderr.splitlines()), done.stderr)

    def test_a_gpu_that_is_skipped_and_pictures_that_are_missing_fail(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="penstock-gpu-"))
        self.addCleanup(shutil.rmtree, folder)
        # A test that skips unless it must not; a machine that refuses compute-sanitizer.
        programs = {"nvidia-smi": "echo 'GPU 0: none'",
                    "compute-sanitizer": "echo '========= Error: Device not supported'; exit 1",
                    "build/tests/loader_device_gpu_test": '[ "$PENSTOCK_REQUIRE_GPU" = 1 ] && exit 1; exit 0',
                    "build/bin/cuda_augment_bench": "exit 1",
                    "build/bin/penstock-load": "echo 'no room' >&2; mkdir -p \"$4\"; exit 1"}
        for name, text in programs.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
            path.chmod(0o755)
        done = subprocess.run(["/bin/bash", str(ROOT / "scripts" / "gpu_check.sh"), "--out", str(folder / "out")],
                              capture_output=True, text=True, check=False, timeout=60,
                              env={**os.environ, "PATH": f"{folder}:/usr/bin:/bin",
                                   "PENSTOCK_BUILD": str(folder / "build")})
        self.assertEqual(1, done.returncode, done.stdout + done.stderr)
        self.assertIn("FAILED  kernels against goldens", done.stdout)
        self.assertRegex(done.stdout, "note +compute-sanitizer: .*not supported")
        self.assertIn("FAILED  pictures to load", done.stdout)
        self.assertIn("no room", done.stderr)
        self.assertFalse((folder / "out" / "set").exists())

    def test_unknown_options_are_usage(self):
        done = subprocess.run(["/bin/bash", str(ROOT / "scripts" / "gpu_check.sh"), "--fast"],
                              capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(2, done.returncode)


if __name__ == "__main__":
    unittest.main()
