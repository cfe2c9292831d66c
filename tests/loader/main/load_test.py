#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""penstock-load as a person or a script uses it: output, exit statuses, equal results, Ctrl-C.

Needs no packages. PENSTOCK_BIN names the folder of the programs.
"""

import base64
import json
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time
import unittest

LOAD = os.path.join(os.environ.get("PENSTOCK_BIN", "build/release/bin"), "penstock-load")

# A grey gradient of 40 by 30 pixels.
JPEG = base64.b64decode("""
/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdB
RkxOUlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09P
T09PT09PT09PT09PT0//wAARCAAeACgDASIAAhEBAxEB/8QAGgAAAgMBAQAAAAAAAAAAAAAABQYAAwcEAf/EACIQAAEEAgEF
AQEAAAAAAAAAAAEAAgQRBSEVAxITIjEyQf/EABQBAQAAAAAAAAAAAAAAAAAAAAD/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oA
DAMBAAIRAxEAPwBrmzyL2gknJ0T7LzJdUi0rZCU5t7QHuW3+l1xsnZHss95F3l7bKMY+U5xG0GjQp5NbUQLHdUmlEFuRjk3p
LM6CXE6WjTYbTfxBZEBhJ+IM+4s+S+1FIMFzSNJj45l/xdUeAwEfEFGOjkVpRMEKG0V8UQf/2Q==""")
FILES = 23
OPS = ["--ops", "random_resized_crop=16,flip,normalize"]


def run(*arguments, status=0):
    done = subprocess.run([LOAD, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.returncode == status, (arguments, done.returncode, done.stdout, done.stderr)
    return done


def load(*arguments):
    """The report of a run. Nothing else may be on standard output."""
    done = run(*arguments, *OPS, "--json")
    assert done.stderr == "", done.stderr
    return json.loads(done.stdout)


def digests(*arguments):
    report = load(*arguments, "--digest")
    return [(d["epoch"], d["samples"], d["ordered"], d["unordered"]) for d in report["digest"]]


class WithFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="penstock-load-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.set = cls.folder / "set"
        for i in range(FILES):
            file = cls.set / f"class{i % 3}" / f"{i}.jpg"
            file.parent.mkdir(parents=True, exist_ok=True)
            # Changes the quantisation of the first coefficient, so that no two pictures are alike.
            jpeg = bytearray(JPEG)
            jpeg[25] = 13 + i
            file.write_bytes(jpeg)


class Output(WithFiles):
    def test_json_holds_what_scripts_rely_on(self):
        report = load(self.set, "--workers", 2, "--prefetch", 4, "--batch", 8, "--epochs", 3,
                      "--output", "f16", "--layout", "chw", "--seed", 0)
        self.assertEqual(report["schema"], "penstock.load/1")
        self.assertEqual(report["samples"], 3 * FILES)
        self.assertEqual(report["batches"], 9)
        self.assertEqual(report["errors"], 0)
        self.assertEqual(report["classes"], 3)
        self.assertGreater(report["samples_per_s"], 0)
        self.assertGreater(report["first_batch_s"], 0)
        self.assertLessEqual(report["first_batch_s"], report["duration_s"])
        self.assertEqual([s["name"] for s in report["stages"]], ["read", "decode", "augment"])
        for stage in report["stages"]:
            self.assertEqual(stage["count"], 3 * FILES)
            self.assertLessEqual(stage["p50_s"], stage["p99_s"])
        self.assertEqual(report["loader"]["num_workers"], 2)
        self.assertEqual(len(report["threads"]), 2)
        self.assertEqual(report["ring_bytes"], 5 * 8 * 16 * 16 * 3 * 2)
        self.assertAlmostEqual(report["mean_megapixels"], 40 * 30 / 1e6)

    def test_people_get_a_summary_and_no_progress_bar_in_a_pipe(self):
        done = run(self.set, *OPS, "--workers", 1)
        self.assertIn(f"{FILES} images in", done.stdout)
        self.assertIn("decode", done.stdout)
        self.assertEqual(done.stderr, "")

    def test_help_and_version(self):
        self.assertIn("--resume-at", run("--help").stdout)
        self.assertIn("make-set", run("--help").stdout)
        self.assertRegex(run("--version").stdout, r"^penstock-load \d+\.\d+")
        self.assertIn("--kind", run("make-set", "--help").stdout)
        self.assertIn("SOURCE", run("pack", "--help").stdout)

    def test_every_output_type_and_layout(self):
        seen = set()
        for output, size in (("u8", 1), ("f16", 2), ("f32", 4)):
            for layout in ("hwc", "chw"):
                report = json.loads(run(self.set, "--ops", "random_resized_crop=16,flip", "--output",
                                        output, "--layout", layout, "--batch", 4, "--prefetch", 1,
                                        "--workers", 1, "--json", "--digest").stdout)
                self.assertEqual(report["ring_bytes"], 2 * 4 * 16 * 16 * 3 * size)
                seen.add(report["digest"][0]["ordered"])
        self.assertGreaterEqual(len(seen), 3)  # a grey picture may be the same in both layouts

    def test_trace_appears_under_its_name_only(self):
        trace = self.folder / "run.penstock"
        load(self.set, "--trace", trace)
        self.assertGreater(trace.stat().st_size, 0)
        self.assertEqual([p.name for p in self.folder.glob("run.penstock*")], ["run.penstock"])


class Identity(WithFiles):
    def test_digest_depends_on_neither_workers_nor_batch_nor_io(self):
        reference = digests(self.set, "--workers", 0, "--epochs", 2)
        self.assertEqual([d[1] for d in reference], [FILES, FILES])
        for arguments in (("--workers", 1), ("--workers", 2, "--batch", 7),
                          ("--workers", 8, "--batch", 1), ("--io", "mmap", "--read-ahead", 4),
                          ("--io", "direct"), ("--ram-cache", "1M"),
                          ("--read-threads", 1, "--decode-threads", 2, "--augment-threads", 1)):
            self.assertEqual(digests(self.set, "--epochs", 2, *arguments), reference, arguments)
        self.assertNotEqual(digests(self.set, "--epochs", 2, "--seed", 1), reference)

    def test_ranks_share_an_epoch(self):
        whole = int(digests(self.set)[0][3], 16)
        parts = [digests(self.set, "--rank", r, "--world", 3)[0] for r in range(3)]
        self.assertEqual(sum(p[1] for p in parts), FILES)
        self.assertEqual(sum(int(p[3], 16) for p in parts) % 2**64, whole)

    def test_a_run_resumes_where_it_says(self):
        whole = digests(self.set, "--epochs", 2)
        report = load(self.set, "--epochs", 2, "--batch", 5, "--batches", 2, "--digest")
        self.assertEqual(report["resume_at"], "0:10")
        rest = digests(self.set, "--epochs", 2, "--resume-at", report["resume_at"])
        self.assertEqual(rest[1], whole[1])
        both = int(report["digest"][0]["unordered"], 16) + int(rest[0][3], 16)
        self.assertEqual(both % 2**64, int(whole[0][3], 16))


class Synthetic(unittest.TestCase):
    def test_costs_are_what_was_asked_for(self):
        report = load("synthetic:40", "--workers", 2, "--batch", 4, "--decode-cost", "2ms",
                      "--augment-cost", "sleep:1ms", "--read-latency", "1ms", "--step", "2ms")
        stages = {s["name"]: s for s in report["stages"]}
        self.assertEqual(stages["decode"]["mode"], "synthetic")
        self.assertGreaterEqual(stages["decode"]["cpu_s"], 0.080)
        self.assertLess(stages["decode"]["cpu_s"], 0.160)  # CPU time: other programs do not disturb it
        self.assertGreaterEqual(stages["read"]["wall_s"], 0.040)
        self.assertLess(stages["augment"]["cpu_s"], 0.020)
        self.assertGreaterEqual(report["step_s"], 0.020)

    def test_limits_end_an_endless_run(self):
        report = load("synthetic:10", "--batches", 7, "--batch", 3)
        self.assertEqual(report["batches"], 7)
        report = load("synthetic:10", "--for", "100ms", "--decode-cost", "100us")
        self.assertGreaterEqual(report["duration_s"], 0.1)
        self.assertFalse(report["interrupted"])

    def test_progress_of_a_run_without_end_names_no_total(self):
        for batch in (1, 2):
            terminal, program = pty.openpty()
            try:
                subprocess.run([LOAD, "synthetic:1000", *OPS, "--batch", str(batch), "--for", "500ms"],
                               stdout=subprocess.DEVNULL, stderr=program, check=True, timeout=60)
                shown = os.read(terminal, 65536).decode()
            finally:
                os.close(program)
                os.close(terminal)
            self.assertIn("images/s", shown)
            self.assertNotIn(" of ", shown)

    def test_interrupted_run_reports_and_keeps_its_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder, "run.penstock")
            started = subprocess.Popen(
                [LOAD, "synthetic:1000000", *OPS, "--decode-cost", "sleep:1ms", "--trace", trace,
                 "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            part = pathlib.Path(f"{trace}.part")
            while not part.exists() and started.poll() is None:
                time.sleep(0.01)
            started.send_signal(signal.SIGINT)
            out, err = started.communicate(timeout=60)
            self.assertEqual(started.returncode, 130, err)
            report = json.loads(out)
            self.assertTrue(report["interrupted"])
            self.assertLess(report["samples"], 1000000)
            self.assertTrue(trace.exists())
            self.assertFalse(part.exists())


def has_open(pid, path):
    folder = f"/proc/{pid}/fd"
    try:
        return any(os.readlink(f"{folder}/{number}") == str(path) for number in os.listdir(folder))
    except OSError:
        return False


class Packing(WithFiles):
    def test_a_signal_ends_pack_while_it_opens_its_source(self):
        source = self.folder.resolve() / "hole.tar"
        with tarfile.open(source, "w") as tar:
            tar.add(self.set / "class0" / "0.jpg", "0.jpg")
        os.truncate(source, 1 << 38)  # all of the zeros after the end marker are read
        packed = self.folder / "out.pspk"
        started = subprocess.Popen([LOAD, "pack", source, "-o", packed])
        try:
            while started.poll() is None and not has_open(started.pid, source):
                time.sleep(0.01)
            started.terminate()
            self.assertEqual(started.wait(timeout=20), -signal.SIGTERM)
        finally:
            started.kill()
            started.wait()
        self.assertFalse(packed.exists())


class Refusals(WithFiles):
    def check_refused(self, status, word, *arguments):
        done = run(*arguments, status=status)
        self.assertEqual(done.stdout, "", arguments)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("penstock-load"), done.stderr)
        self.assertIn(word, done.stderr)

    def test_wrong_options(self):
        for word, arguments in (
                ("SOURCE", ()), ("--io", ("--io", "floppy")), ("--workers", ("--workers", "-1")),
                ("--output", ("--output", "f64")), ("--layout", ("--layout", "chwn")),
                ("--on-error", ("--on-error", "cry")), ("--without", ("--without", "lunch")),
                ("--decode-cost", ("--decode-cost", "soon")), ("--for", ("--for", "ever")),
                ("--resume-at", ("--resume-at", "x")), ("resume", ("--resume-at", 999)),
                ("rank", ("--rank", 2, "--world", 2)), ("--ram-cache", ("--ram-cache", "2Q")),
                ("--ops", ("--ops", "enlighten")), ("--batch", ("--batch", 0)),
                ("--reduce", ("--reduce", "0.5")), ("--no-such", ("--no-such",)),
                ("workers", ("--workers", 0, "--decode-threads", 1)),
                ("--seed", ("--seed", "-1")), ("--seed", ("--seed", 1 << 64)),
                ("--rank", ("--rank", "-1")), ("--world", ("--world", 0)),
                ("--batches", ("--batches", 0)), ("--epochs", ("--epochs", "-1")),
                ("--for", ("--for", "0s")), ("--step-ms", ("--step-ms", "nan")),
                ("--reduce", ("--reduce", "nan")), ("--ram-cache", ("--ram-cache", "-1"))):
            source = () if word == "SOURCE" else (self.set,)
            self.check_refused(2, word, *source, *arguments)
        self.check_refused(2, "synthetic", "synthetic:none")
        self.check_refused(2, "synthetic", f"synthetic:{(1 << 64) - 1}")
        self.assertEqual(run(self.set, "--ops", "enlighten", status=2).stderr.count("--ops"), 1)

    def test_report_that_cannot_be_written_is_a_failure(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([LOAD, self.set, *OPS, "--json"], stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, 3)
        self.assertIn("standard output", done.stderr)

    def test_reader_that_goes_away_is_no_failure(self):
        read_end, write_end = os.pipe()
        os.close(read_end)
        done = subprocess.run([LOAD, self.set, *OPS], stdout=write_end, stderr=subprocess.PIPE,
                              timeout=60)
        os.close(write_end)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_ring_larger_than_the_memory(self):
        self.check_refused(3, "--prefetch", "synthetic:100", "--prefetch", 100000, "--batch",
                           10000000, "--ops", "random_crop=1", "--output", "u8")

    def test_missing_source(self):
        self.check_refused(4, "nowhere", self.folder / "nowhere")

    def test_a_limit_of_file_sizes_is_an_error_of_the_trace(self):
        trace = self.folder / "limited.penstock"
        done = subprocess.run(["/bin/sh", "-c", 'ulimit -f 1; exec "$@"', "sh", LOAD, self.set, *OPS,
                               "--epochs", "20", "--json", "--trace", trace],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(3, done.returncode, done)
        self.assertEqual(1, len(done.stderr.splitlines()), done.stderr)
        self.assertFalse(trace.exists())

    def test_trace_that_cannot_be_written(self):
        self.check_refused(3, "nowhere", self.set, "--trace", self.folder / "nowhere" / "t", *OPS)
        self.check_refused(3, "replaced", self.set, "--trace", self.folder, *OPS)

    def test_damaged_file_is_counted_or_fails_by_its_name(self):
        damaged = self.folder / "damaged"
        shutil.copytree(self.set, damaged)
        (damaged / "class1" / "7.jpg").write_bytes(JPEG[:200])
        (damaged / "class2" / "8.jpg").write_bytes(b"")
        for workers in (0, 2):
            report = load(damaged, "--workers", workers, "--on-error", "skip")
            self.assertEqual(report["errors"], 2)
            self.assertEqual(report["samples"], FILES)
            named = " ".join(e["message"] for e in report["first_errors"])
            self.assertIn("7.jpg", named)
            self.assertIn("8.jpg", named)
            self.check_refused(4, "7.jpg", damaged, "--workers", workers, "--on-error", "fail",
                        "--no-shuffle", *OPS)
        self.assertIn("2 damaged samples replaced", run(damaged, *OPS).stdout)

    def test_a_file_name_with_a_newline_stays_on_its_line(self):
        odd = self.folder / "odd" / "class0"
        odd.mkdir(parents=True)
        (odd / "a\nb.jpg").write_bytes(b"no picture")
        self.check_refused(4, "a?b.jpg", odd.parent, "--on-error", "fail", *OPS)


if __name__ == "__main__":
    unittest.main()
