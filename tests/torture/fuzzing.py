# SPDX-License-Identifier: Apache-2.0
"""Runs every fuzz target with libFuzzer and AddressSanitizer, starting from the corpus in the tree.

Each target reads files that may come from anywhere. New inputs go into build/test/corpus-TARGET. The next run
starts from them too.
"""
import os
import re
import shutil
import subprocess

import document
import support
from harness import Failure, Skip


def fuzz(run, target, *seeds):
    if run.quick:
        raise Skip("only in the full form; the seeds are a test of their own (ctest -R fuzz)")
    program = os.path.join(document.ROOT, run.extra.fuzz_build, "tests", target)
    if not os.access(program, os.X_OK):
        raise Skip("%s is not built: needs clang" % target)
    kept = os.path.join(document.ROOT, "build", "test")
    corpus = os.path.join(kept, "corpus-" + target)
    os.makedirs(corpus, exist_ok=True)
    folders = [corpus] + [path for path in (os.path.join(document.ROOT, seed) for seed in seeds)
                          if os.path.isdir(path)]  # fmt: skip
    fixed = ["setarch", os.uname().machine, "--addr-no-randomize"]
    if not shutil.which("setarch") or support.run([*fixed, "true"]).status != 0:
        fixed = []
    seconds = run.extra.fuzz_seconds
    line = [*fixed, program, "-max_total_time=%d" % seconds, "-timeout=10", "-rss_limit_mb=2048",
            "-print_final_stats=1", "-artifact_prefix=%s-" % target, *folders]
    done = subprocess.run(line, cwd=kept, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False,
                          stderr=subprocess.PIPE, text=True, errors="replace", timeout=4 * seconds + 600)
    if done.returncode != 0:
        raise Failure("%s; the input is build/test/%s-*" % (done.stderr.strip()[-300:], target))
    stats = dict(re.findall(r"stat::(\w+):\s+(\d+)", done.stderr))
    run.notes.append("%s inputs in %d s, peak %s MB, corpus of %d" % (
        document.number(int(stats.get("number_of_executed_units", 0))), seconds,
        stats.get("peak_rss_mb", "?"), len(os.listdir(corpus))))


def fuzz_trace_reader(run):
    """any bytes as a trace or a recording: read to the end, drained in two rounds, exported"""
    fuzz(run, "fuzz_trace_reader", "tests/fuzz/corpus/fuzz_trace_reader", "traces/samples",
         "build/release/tests/fuzz/corpus", "tests/fuzz/regressions")


def fuzz_trace_import(run):
    """any bytes as torch.profiler's JSON, DFTracer's lines, Perfetto's protobuf, Nsight's SQLite"""
    fuzz(run, "fuzz_trace_import", "tests/fuzz/corpus/fuzz_trace_import")


def fuzz_loader_jpeg(run):
    """any bytes as a JPEG file: decoded as a whole, in part, at smaller sizes; our decoder compared with libjpeg's"""
    fuzz(run, "fuzz_loader_jpeg", "tests/fuzz/corpus/fuzz_loader_jpeg")


def fuzz_loader_tar(run):
    """any bytes as a tar, a packed file, a list, an index of a tar"""
    fuzz(run, "fuzz_loader_tar", "tests/fuzz/corpus/fuzz_loader_tar")


SCENARIOS = (fuzz_trace_reader, fuzz_trace_import, fuzz_loader_jpeg, fuzz_loader_tar)
