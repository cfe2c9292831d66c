#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs penstock-load and other loaders interleaved on the same files; prints the table of ratios.

Every round runs each contender once, in random order. Only the ratio of penstock-load to another contender
within a round counts. The table gives the median of the ratios with the interval of the sign test (see paired_runs.py).
Contenders that are not installed are named as missing. compare_loaders.sh is the command for this.
"""

import argparse
import json
import os
import pathlib
import random
import re
import shlex
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import paired_runs  # noqa: E402

PRINTED = re.compile(paired_runs.THROUGHPUT, re.M)
OF_PENSTOCK = re.compile(r'"steady_samples_per_s": ?([0-9.eE+]+)')
OURS, OURS_ALONE, OURS_REDUCED = "penstock-load", "penstock-load, 1 thread", "penstock-load, --reduce 1"
OURS_IN_PYTHON = "penstock.Loader in Python"
DEBIAN = "/usr/bin/python3"

# Name, script, statement that imports its package, interpreter (None: the first of --python that can import it).
CONTENDERS = (
    (OURS_IN_PYTHON, "python_loader.py", "import torch", DEBIAN),
    ("torchvision DataLoader", "torchvision_loader.py", "import torchvision", DEBIAN),
    ("torchvision DataLoader, newer", "torchvision_loader.py", "import torchvision, PIL", None),
    ("torchvision v2, torchvision.io", "torch_pipelines.py --pipeline tensors", "import torchvision.transforms.v2", None),
    ("timm's loader", "torch_pipelines.py --pipeline timm", "import timm.data, torchvision", None),
    ("webdataset", "torch_pipelines.py --pipeline webdataset", "import webdataset, torchvision", None),
    ("FFCV", "ffcv_loader.py", "import ffcv", None),
    ("DALI, CPU pipeline", "dali_loader.py", "import nvidia.dali", None),
    ("SPDL", "spdl_loader.py", "from spdl import io; io.load_image", None),
    ("decode only: tjbench", "tjbench.py", "", DEBIAN),
    ("read+decode: libjpeg-turbo", "reader.py --reader turbojpeg", "", DEBIAN),
    ("read+decode: torchvision.io", "reader.py --reader torchvision", "import torchvision", DEBIAN),
    ("read+decode: OpenCV", "reader.py --reader opencv", "import cv2", DEBIAN),
    ("read+decode: PIL", "reader.py --reader pil", "import PIL", DEBIAN),
)


def quoted(*words):
    return " ".join(shlex.quote(str(word)) for word in words)


def importable(pythons, statement):
    """Returns the first interpreter that can run the import, or None; and the reason why the last one cannot."""
    why = "give --python VENV/bin/python"
    for python in pythons:
        if not os.access(python, os.X_OK):
            why = f"{python}: not there"
            continue
        done = subprocess.run([python, "-c", statement], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode == 0:
            return python, None
        why = f"{python}: {done.stdout.strip().splitlines()[-1]}"
    return None, why


def build_commands(options):
    """Returns {name: (command, pattern)} and {name: why it is missing}."""
    ours = [options.load, options.data, "--ops", "random_resized_crop=224,flip,normalize", "--output",
            "f16", "--layout", "chw", "--batch", options.batch, "--for", f"{options.seconds}s", "--json"]
    commands = {OURS: (quoted(*ours, "--workers", options.workers), OF_PENSTOCK)}
    missing = {}
    if options.workers > 1:
        commands[OURS_ALONE] = (quoted(*ours, "--workers", 1), OF_PENSTOCK)
    # With --reduce 1, pictures are decoded at 1/2 if that leaves enough pixels. The pixels then differ, so this
    # has a line of its own.
    commands[OURS_REDUCED] = (quoted(*ours, "--workers", options.workers, "--reduce", 1), OF_PENSTOCK)
    for name, script, statement, python in CONTENDERS:
        if options.only and not any(word in name for word in options.only):
            continue
        python, why = importable([python] if python else options.python, statement)
        if python is None:
            missing[name] = why
            continue
        command = quoted(python, "-B", HERE / script.split()[0], *script.split()[1:], "--data",
                         options.data, "--workers", options.workers, "--batch", options.batch,
                         "--seconds", options.seconds)
        if name == OURS_IN_PYTHON:
            command += " " + quoted("--build", pathlib.Path(options.load).resolve().parents[1])
        commands[name] = (command, PRINTED)
    return commands, missing


def measure(commands, options):
    """Returns one {name: rate} for each counted round."""
    rng, rounds = random.Random(options.seed), []
    for number in range(-options.warmup, options.rounds):
        order = list(commands)
        rng.shuffle(order)
        row = {}
        for name in order:
            command, pattern = commands[name]
            row[name], _ = paired_runs.run_once(command, pattern, number, options.timeout, False)
            if row[name] <= 0:
                raise paired_runs.RunFailed(f"{name}: no batch after the first in {options.seconds} s: "
                                            "give more --seconds")
        label = "warm-up" if number < 0 else f"round {number + 1:3d}"
        print(f"{label}: " + ", ".join(f"{name} {row[name]:.0f}" for name in commands),
              file=sys.stderr, flush=True)
        if number >= 0:
            rounds.append(row)
    return rounds


def summarise(rounds, commands):
    summary = {}
    for name in commands:
        rates = [row[name] for row in rounds]
        summary[name] = {"median": statistics.median(rates), "least": min(rates), "most": max(rates)}
        if name != OURS:
            ratios = [row[OURS] / row[name] for row in rounds]
            low, high, coverage = paired_runs.sign_interval(ratios)
            summary[name].update(ratio=statistics.median(ratios), low=low, high=high,
                                 coverage=coverage, ratios=ratios)
    return summary


def table(summary, missing, workers):
    yield f"| {'on ' + str(workers) + ' cores':30} | images/s | range | per core | penstock-load is | interval |"
    yield f"|{'-' * 32}|---:|---:|---:|---:|---:|"
    for name, row in summary.items():
        cores = 1 if name == OURS_ALONE else workers
        ratio = f"{row['ratio']:.2f} x" if "ratio" in row else ""
        interval = f"{row['low']:.2f} to {row['high']:.2f} ({row['coverage']:.0%})" if ratio else ""
        yield (f"| {name:30} | {row['median']:.0f} | {row['least']:.0f} to {row['most']:.0f} | "
               f"{row['median'] / cores:.0f} | {ratio} | {interval} |")
    for name, why in missing.items():
        yield f"| {name:30} | not installed: {why} | | | | |"


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--load", required=True, help="penstock-load")
    add("--data", required=True, help="folder with a folder per class")
    add("--python", action="append", default=[],
        help="interpreter of a virtual environment with DALI, SPDL, timm, ...; any number of times")
    add("--workers", type=int, default=len(os.sched_getaffinity(0)), help="threads or processes")
    add("--batch", type=int, default=64)
    add("--rounds", type=int, default=10)
    add("--warmup", type=int, default=1, help="rounds before, not counted")
    add("--seconds", type=float, default=5, help="of each run, after its first batch")
    add("--timeout", type=float, default=300, help="seconds for one run")
    add("--only", action="append", help="contenders whose name holds this; any number of times")
    add("--seed", type=int, default=0, help="of the order within rounds")
    add("--json", help="write everything measured to this file")
    options = parser.parse_args(arguments)
    if options.rounds < 1 or options.warmup < 0 or options.seconds <= 0 or options.workers < 1:
        parser.error("--rounds, --seconds and --workers must be positive")
    return options


def main(arguments):
    options = parse(arguments)
    about = paired_runs.machine()
    if about["load_before"] > 0.5 * about["cores"]:
        print(f"note: the load is {about['load_before']:.1f} before the first run", file=sys.stderr)
    commands, missing = build_commands(options)
    try:
        rounds = measure(commands, options)
    except paired_runs.RunFailed as error:
        print(f"compare: {error}", file=sys.stderr)
        return 3
    summary = summarise(rounds, commands)
    print(f"{options.data}: {len(rounds)} rounds of {options.seconds:g} s, batch {options.batch}, {about['cpu']}")
    print("\n".join(table(summary, missing, options.workers)))
    if OURS_ALONE in summary:
        print(f"\n{options.workers} threads are {summary[OURS_ALONE]['ratio']:.2f} x one")
    if len(rounds) < 10:
        print(f"{len(rounds)} rounds: too few to report")
    if options.json:
        temporary = pathlib.Path(f"{options.json}.{os.getpid()}.tmp")
        temporary.write_text(json.dumps(
            {"machine": about, "commands": {name: command for name, (command, _) in commands.items()},
             "missing": missing, "rounds": rounds, "summary": summary}, indent=1) + "\n")
        temporary.replace(options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
