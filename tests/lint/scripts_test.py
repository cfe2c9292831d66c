#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the scripts' helpers: package check, images, verdict, paired runs, span counts, loaders, screenshots."""

import collections
import contextlib
import hashlib
import io
import json
import os
import pathlib
import re
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import types
import unittest
from unittest import mock

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
for folder in ("benchmarks", "scripts/demo", "scripts/loaders", "scripts/wheels"):
    sys.path.insert(0, str(ROOT / folder))
import count_spans  # noqa: E402
import paired_runs  # noqa: E402
import media_codecs  # noqa: E402
import run as loaders  # noqa: E402
import verdict  # noqa: E402

try:
    import numpy  # noqa: F401
    import PIL  # noqa: F401

    HAVE_PILLOW = True
except ImportError:
    HAVE_PILLOW = False


def run(*command, **environment):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          stdin=subprocess.DEVNULL, check=False, env={**os.environ, **environment})


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="penstock-scripts-"))
        self.addCleanup(shutil.rmtree, self.folder)


class DepsTest(InFolder):
    """Runs scripts/deps.sh with fakes of dpkg-query and apt-get, so nothing is installed."""

    def deps(self, *groups, installed="", apt_status=0, system="debian 12"):
        tools = {
            "dpkg-query": 'shift 3\nfor p in "$@"; do case " $INSTALLED " in *" $p "*) '
                          'echo "$p installed";; esac; done',
            "apt-get": f'echo "$*" >>"{self.folder}/calls"\n'
                       f'case "$*" in *" install "*) echo "E: no such thing"; exit {apt_status};; esac',
            "id": "echo 0",
        }
        for name, text in tools.items():
            path = self.folder / name
            path.write_text("#!/bin/sh\n" + text + "\n")
            path.chmod(0o755)
        release = self.folder / "os-release"
        release.write_text('ID={}\nVERSION_ID="{}"\n'.format(*system.split(" ")))
        done = run(str(ROOT / "scripts/deps.sh"), *groups, INSTALLED=installed,
                   PENSTOCK_OS_RELEASE=str(release), PATH=f"{self.folder}:{os.environ['PATH']}")
        calls = self.folder / "calls"
        return done, calls.read_text().splitlines() if calls.exists() else []

    # BUILD: all packages of the group except the last. LAST: the last one.
    BUILD, LAST = re.search(r"kBuild=\(([^)]*) (\S+)\)", (ROOT / "scripts/deps.sh").read_text(),
                            re.S).groups()
    BUILD = " ".join(BUILD.split()).replace('"$kJpeg"', "libjpeg62-turbo-dev")

    def test_the_compiler_is_a_package_of_the_build(self):
        self.assertIn("g++", self.BUILD.split())

    def test_quiet_and_idle_if_nothing_is_missing(self):
        done, calls = self.deps("build", installed=f"{self.BUILD} {self.LAST}")
        self.assertEqual((0, "", "", []), (done.returncode, done.stdout, done.stderr, calls))

    def test_installs_what_is_missing_and_only_that(self):
        done, calls = self.deps("build", installed=self.BUILD)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(2, len(calls))
        self.assertTrue(calls[0].endswith(" update"))
        self.assertTrue(calls[1].endswith(f" install --no-install-recommends {self.LAST}"))

    def test_status_3_and_the_reason_if_apt_fails(self):
        done, _ = self.deps("build", installed=self.BUILD, apt_status=100)
        self.assertEqual(3, done.returncode)
        self.assertIn("E: no such thing", done.stderr)
        self.assertIn(f"could not install: {self.LAST}", done.stderr)

    def installs(self, system, *groups):
        done, calls = self.deps(*groups, system=system)
        self.assertEqual(0, done.returncode, done.stderr)
        return calls[-1].split(" --no-install-recommends ")[1].split()

    def test_the_tools_of_clang_follow_the_release(self):
        for system, version in (("debian 12", "-14"), ("debian 13", "-19"), ("ubuntu 24.04", "-18"), ("debian ", "")):
            with self.subTest(system=system):
                (self.folder / "calls").unlink(missing_ok=True)
                clang = [name for name in self.installs(system, "test") if "clang" in name]
                format_14 = ["clang-format-14"] if system == "debian 12" else []
                self.assertEqual(sorted([f"clang{version}", f"clang-tidy{version}", f"libclang-rt{version}-dev",
                                         *format_14]), sorted(clang))

    def test_ubuntu_has_another_name_for_libjpeg(self):
        self.assertIn("libjpeg62-turbo-dev", self.installs("debian 13", "build"))
        (self.folder / "calls").unlink()
        names = self.installs("ubuntu 24.04", "build")
        self.assertEqual((True, False), ("libjpeg-turbo8-dev" in names, "libjpeg62-turbo-dev" in names))

    def test_without_apt_it_names_the_packages_of_other_systems(self):
        for tool in ("bash", "env", "sort", "tr"):
            (self.folder / tool).symlink_to(shutil.which(tool))
        done = run(str(ROOT / "scripts/deps.sh"), "build", PATH=str(self.folder))
        self.assertEqual((3, ""), (done.returncode, done.stdout))
        first, ubuntu, fedora = done.stderr.splitlines()
        self.assertIn("no apt here", first)
        self.assertRegex(ubuntu, r"^  Ubuntu: apt-get install g\+\+ .* libjpeg-turbo8-dev .* file ?$")
        self.assertRegex(fedora, r"^  Fedora, to build: dnf install --skip-unavailable gcc-c\+\+ .* libjpeg-turbo-devel ")

    def test_an_unknown_group_is_a_usage_error(self):
        done, calls = self.deps("everything")
        self.assertEqual((2, []), (done.returncode, calls))


@unittest.skipUnless(HAVE_PILLOW, "numpy or Pillow is missing")
class ImagesTest(InFolder):
    def make(self, name, *arguments):
        folder = self.folder / name
        done = run(sys.executable, "-B", str(ROOT / "scripts/demo/make_images.py"), str(folder),
                   *arguments)
        self.assertEqual(0, done.returncode, done.stderr)
        hashes = {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
                  for path in folder.glob("*/*.jpg")}
        return done.stdout, hashes, json.loads((folder / "set.json").read_text())

    def test_the_set_is_photo_sized_reproducible_and_kept(self):
        _, first, manifest = self.make("a", "--count", "60", "--processes", "1")
        self.assertEqual(60, len(first))
        self.assertEqual(10, len({name.split("/")[0] for name in first}))
        self.assertTrue(90_000 < manifest["mean_bytes"] < 120_000, manifest)
        from PIL import Image, JpegImagePlugin

        with Image.open(self.folder / "a" / sorted(first)[0]) as image:
            self.assertEqual((500, 0), (max(image.size), JpegImagePlugin.get_sampling(image)))
        _, again, _ = self.make("b", "--count", "60", "--processes", "2")
        self.assertEqual(first, again)
        _, other, _ = self.make("c", "--count", "10", "--seed", "1")
        self.assertFalse(set(first.values()) & set(other.values()))
        text, _, _ = self.make("a", "--count", "60")
        self.assertIn("already there", text)


class VerdictTest(InFolder):
    REPORT = {
        "verdict": {"bottleneck": "decode", "wait_fraction": 0.91, "summary": "Decode holds it back."},
        "throughput": {"samples_per_s": 612.3, "whole_run_samples_per_s": 401.6, "base": "steady"},
        "stages": [{"name": "decode", "wall_s": 6.0, "count": 10}, {"name": "wait", "wall_s": 9, "count": 5},
                   {"name": "augment", "wall_s": 2.0, "count": 10}],
        "coverage": {"fraction": 0.998}, "losses": {"dropped_events": 0},
    }

    def run_on(self, report):
        path = self.folder / "report.json"
        path.write_text(report if isinstance(report, str) else json.dumps(report))
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
            return verdict.main([f"set={path}"]), out.getvalue()

    def test_names_the_bottleneck_with_numbers(self):
        status, text = self.run_on(self.REPORT)
        self.assertEqual(0, status)
        for part in ("bottleneck decode", "612 samples/s", "91%", "decode 75%, augment 25%", "99.8%"):
            self.assertIn(part, text)

    def test_the_rate_has_the_base_of_the_verdict(self):
        status, text = self.run_on({**self.REPORT, "throughput": {**self.REPORT["throughput"], "base": "whole_run"}})
        self.assertEqual(0, status)
        self.assertIn("402 samples/s of the whole run", text)

    def test_refuses_an_empty_or_broken_report(self):
        for report in ("", "[]", "{}", {**self.REPORT, "stages": []},
                       {**self.REPORT, "throughput": {**self.REPORT["throughput"], "samples_per_s": 0}}):
            with self.subTest(report=report):
                self.assertEqual((4, ""), self.run_on(report))


class PairedRunsTest(InFolder):
    def test_sign_interval_has_the_coverage_of_the_binomial_table(self):
        values = list(range(1, 11))
        self.assertEqual((2, 9), paired_runs.sign_interval(values)[:2])
        self.assertAlmostEqual(0.978516, paired_runs.sign_interval(values)[2], places=6)
        self.assertEqual((6, 15), paired_runs.sign_interval(list(range(1, 21)))[:2])
        self.assertEqual((1, 4), paired_runs.sign_interval([1, 2, 3, 4])[:2])
        self.assertAlmostEqual(0.875, paired_runs.sign_interval([1, 2, 3, 4])[2])
        self.assertEqual((7, 7, 0.0), paired_runs.sign_interval([7]))

    def test_sign_interval_covers_the_true_median_as_often_as_it_says(self):
        rng, hits, trials = random.Random(1), 0, 2000
        for _ in range(trials):
            low, high, coverage = paired_runs.sign_interval([rng.expovariate(1) for _ in range(12)])
            hits += low <= 0.6931 <= high
        self.assertAlmostEqual(coverage, hits / trials, delta=0.02)

    def test_bootstrap_interval_holds_the_median(self):
        values = [random.Random(2).gauss(1, 0.1) for _ in range(3)] + [0.9, 1.0, 1.1, 1.05]
        low, high = paired_runs.bootstrap_interval(values, resamples=500)
        self.assertTrue(low <= statistics.median(values) <= high)

    def test_finds_the_ratio_of_two_commands(self):
        out = self.folder / "out.json"
        say = "sh -c 'echo throughput: %s samples/s'"
        done = run(sys.executable, "-B", str(ROOT / "benchmarks/paired_runs.py"), "--pairs", "6",
                   "--a", say % "200.0", "--b", say % "150.0", "--variant", "c=" + say % "100",
                   "--json", str(out), "--min-ratio", "0.9")
        self.assertEqual(1, done.returncode, done.stderr)
        summary = json.loads(out.read_text())["summary"]
        self.assertEqual((0.75, 0.5), (summary["b"]["ratio"], summary["c"]["ratio"]))
        self.assertEqual(6, len(summary["b"]["ratios"]))

    def test_a_failing_or_silent_command_ends_it(self):
        for bad in ("false", "true", str(self.folder / "missing")):
            done = run(sys.executable, "-B", str(ROOT / "benchmarks/paired_runs.py"),
                       "--a", "echo throughput: 1 samples/s", "--b", bad)
            self.assertEqual(3, done.returncode, bad)


class CountSpansTest(unittest.TestCase):
    @staticmethod
    def span(stage, start, duration, name, tid=1):
        return json.dumps({"type": "span", "stage": stage, "pid": 1, "tid": tid, "name": name,
                           "start_ns": start, "duration_ns": duration})

    def test_a_span_inside_another_of_its_stage_is_not_counted(self):
        outer, everything = count_spans.read_spans([
            self.span("decode", 10, 100, "load"), self.span("decode", 10, 50, "jpeg"),
            self.span("decode", 110, 5, "load"), self.span("decode", 20, 5, "jpeg", tid=2),
            self.span("sample", 0, 500, "item"), '{"type": "event"}'])
        self.assertEqual(["jpeg", "load", "load"], sorted(outer["decode"]))
        self.assertEqual(4, len(everything["decode"]))
        self.assertEqual(["item"], outer["sample"])


class TestScriptTest(InFolder):
    def test_a_path_that_cannot_be_preloaded_is_refused(self):
        for name in ("with space", "with:colon"):
            script = self.folder / name / "scripts/test.sh"
            script.parent.mkdir(parents=True)
            shutil.copy(ROOT / "scripts/test.sh", script)
            done = subprocess.run([str(script)], text=True, stdin=subprocess.DEVNULL, capture_output=True, check=False)
            self.assertEqual((2, ""), (done.returncode, done.stdout))
            self.assertRegex(done.stderr, f"^test: .*{name}\n$")


class MediaCountsTest(unittest.TestCase):
    """The check that compares a program's own counts with its trace: each call is recorded once, and all frames are
    counted."""

    SAID = {"spans": {"decode": {"av.to_ndarray": 2}}, "used": 2, "decoded": 5}

    def wrong(self, spans=2, used=2, native=5, dropped=0):
        counts = types.SimpleNamespace(
            spans=collections.Counter({("decode", "av.to_ndarray"): spans}),
            counters=collections.Counter({"video.frames_used": used}), native=native, dropped=dropped)
        return media_codecs.judge(self.SAID, counts)[1]

    def test_exact_counts_pass(self):
        self.assertEqual([], self.wrong())
        self.assertEqual([], self.wrong(native=7))  # more is allowed: opening a file decodes frames too

    def test_calls_that_are_missing_or_told_twice_fail(self):
        self.assertEqual(["decode av.to_ndarray: 1, want 2"], self.wrong(spans=1))
        self.assertEqual(["decode av.to_ndarray: 4, want 2"], self.wrong(spans=4))

    def test_frames_and_records_that_are_missing_fail(self):
        self.assertEqual(["frames used: 1, want 2"], self.wrong(used=1))
        self.assertEqual(["frames decoded: 4, want 5 or more"], self.wrong(native=4))
        self.assertEqual(["3 records dropped"], self.wrong(dropped=3))

    def test_a_library_that_was_not_tried_is_not_said_to_work(self):
        lines = media_codecs.table({"tiktoken": {"missing": "not installed: tiktoken"}})
        self.assertIn("| tiktoken | not tested | | a batch is one call |", lines)
        self.assertEqual(2 + len(media_codecs.ROWS), len(lines))


class LoadersTest(InFolder):
    def test_a_case_that_hangs_is_told_and_its_workers_end(self):
        penstock, kept = self.folder / "penstock", self.folder / "worker"
        penstock.write_text(f"#!/bin/sh\nsleep 1000 &\necho $! >'{kept}'\nwait\n")
        penstock.chmod(0o755)
        runner = loaders.Runner(str(penstock), self.folder, self.folder, {"native": "true"})
        with mock.patch.object(loaders, "TIMEOUT", 3):
            result = runner.run(loaders.cases.Case(name="hangs", row="", python="native"))
        self.assertEqual(1, len(result["wrong"]))
        self.assertIn(f"still running after 3 s: {penstock} record", result["wrong"][0])
        stat = pathlib.Path("/proc", kept.read_text().strip(), "stat")
        for _ in range(50):
            try:
                state = stat.read_text().rpartition(")")[2].split()[0]
            except OSError:
                state = "gone"
            if state in ("gone", "Z", "X"):
                break
            time.sleep(0.1)
        self.assertIn(state, ("gone", "Z", "X"))


class ScreenshotsTest(InFolder):
    def test_a_trace_is_looked_for_where_the_caller_stands(self):
        gui, asked = self.folder / "build/bin/penstock-gui", self.folder / "asked"
        gui.parent.mkdir(parents=True)
        gui.write_text(f"#!/bin/sh\necho \"$1\" >'{asked}'\nexit 1\n")
        gui.chmod(0o755)
        (self.folder / "run.penstock").touch()
        done = subprocess.run([str(ROOT / "scripts/screenshots.sh"), "run.penstock"], cwd=self.folder, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              env={**os.environ, "PENSTOCK_BUILD": str(self.folder / "build")})
        self.assertEqual((3, "screenshots: no picture of overview\n"), (done.returncode, done.stderr))
        self.assertEqual(os.path.realpath(self.folder / "run.penstock"), asked.read_text().strip())


if __name__ == "__main__":
    unittest.main()
