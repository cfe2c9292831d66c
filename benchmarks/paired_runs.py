#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares commands by interleaved whole runs; prints each ratio to the first with an interval.

Every round runs A, B and each further variant once, in random order, so that drifts (heat,
neighbours, caches) affect all of them equally. Only ratios within a round count. The median of the
ratios comes with the exact interval of the sign test, which assumes only that rounds are
independent. Example:

  benchmarks/paired_runs.py --pairs 20 --a "/usr/bin/python3 scripts/demo/train.py --data D" \\
      --b "build/release/bin/penstock record --force -o build/pair.penstock -- /usr/bin/python3 ..."
"""

import argparse
import json
import math
import os
import random
import re
import shlex
import statistics
import subprocess
import sys
import time

THROUGHPUT = r"^throughput: ([0-9.]+) samples/s$"


def sign_interval(values, confidence=0.95):
    """Returns (low, high, coverage) of the median from order statistics.

    low and high have the same rank, counted from the two ends. Takes the narrowest such pair whose
    coverage is at least `confidence`. With fewer than 6 values no pair reaches 95 %; then low and high
    are the extremes, with their coverage.
    """
    ordered, count = sorted(values), len(values)

    def coverage(rank):  # of [ordered[rank], ordered[count - 1 - rank]]
        return 1 - 2 * sum(math.comb(count, k) for k in range(rank + 1)) / 2**count

    rank = 0
    while rank + 1 < count / 2 and coverage(rank + 1) >= confidence:
        rank += 1
    return ordered[rank], ordered[count - 1 - rank], max(0.0, coverage(rank))


def bootstrap_interval(values, confidence=0.95, resamples=10000, seed=0):
    """Returns the bootstrap's percentile interval of the median, which is narrower than that of the sign test."""
    rng = random.Random(seed)
    medians = sorted(statistics.median(rng.choices(values, k=len(values))) for _ in range(resamples))
    tail = (1 - confidence) / 2
    return medians[int(tail * resamples)], medians[min(resamples - 1, int((1 - tail) * resamples))]


class RunFailed(Exception):
    pass


def run_once(command, pattern, number, timeout, shell):
    """Runs a command and returns the figure that it printed and its wall time in seconds."""
    command = command.replace("{n}", str(number))
    started = time.monotonic()
    try:
        done = subprocess.run(command if shell else shlex.split(command), shell=shell, text=True,
                              timeout=timeout, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, errors="replace", check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RunFailed(f"{command}: {error}") from error
    wall = time.monotonic() - started
    if done.returncode != 0:
        raise RunFailed(f"{command}: status {done.returncode}\n{done.stdout[-2000:]}")
    found = pattern.findall(done.stdout)
    if not found:
        raise RunFailed(f"{command}: no line matches {pattern.pattern}\n{done.stdout[-2000:]}")
    return float(found[-1]), wall


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add = parser.add_argument
    add("--a", required=True, metavar="CMD", help="the base of the comparison")
    add("--b", required=True, metavar="CMD", help="what is compared with it; {n}: number of the round")
    add("--variant", action="append", default=[], metavar="NAME=CMD", help="one more, any number of times")
    add("--pairs", type=int, default=10, help="rounds (default 10)")
    add("--warmup", type=int, default=1, help="rounds before, not counted (default 1)")
    add("--pattern", default=THROUGHPUT, help=f"figure in the output, last match (default {THROUGHPUT})")
    add("--lower-is-better", action="store_true", help="the figure is a time, not a rate")
    add("--min-ratio", type=float, help="exit status 1 if B's median ratio is below")
    add("--timeout", type=float, default=600, help="seconds for one run (default 600)")
    add("--shell", action="store_true", help="run the commands through the shell")
    add("--seed", type=int, default=0, help="of the order within rounds")
    add("--json", metavar="F", help="write everything measured to this file")
    options = parser.parse_args(arguments)
    if options.pairs < 1 or options.warmup < 0:
        parser.error("--pairs must be at least 1, --warmup at least 0")
    commands = {"a": options.a, "b": options.b}
    for variant in options.variant:
        name, equals, command = variant.partition("=")
        if not equals or not command or name in commands or not name:
            parser.error(f"--variant {variant}: want NAME=CMD with a name of its own")
        commands[name] = command
    try:
        options.pattern = re.compile(options.pattern, re.M)
    except re.error as error:
        parser.error(f"--pattern: {error}")
    if options.pattern.groups != 1:
        parser.error("--pattern needs exactly one group: the figure")
    return options, commands


def machine():
    model = "unknown"
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")),
                         model)
    except OSError:
        pass
    return {"cpu": model, "cores": len(os.sched_getaffinity(0)), "kernel": os.uname().release,
            "load_before": os.getloadavg()[0]}


def measure(options, commands):
    """Returns one dict per counted round: name -> {"value", "wall_s"}, and "order"."""
    rng, rounds = random.Random(options.seed), []
    for number in range(-options.warmup, options.pairs):
        order = list(commands)
        rng.shuffle(order)
        row = {"order": order}
        for name in order:
            value, wall = run_once(commands[name], options.pattern, number, options.timeout, options.shell)
            row[name] = {"value": value, "wall_s": wall}
        cells = "  ".join(f"{name} {row[name]['value']:.1f}" + (
            "" if name == "a" else f" ({ratio(row, name, options.lower_is_better):.4f})")
            for name in commands)
        print(f"{'warm-up' if number < 0 else f'round {number + 1:3d}'}: {cells}", flush=True)
        if number >= 0:
            rounds.append(row)
    return rounds


def ratio(row, name, lower_is_better):
    base, value = row["a"]["value"], row[name]["value"]
    return base / value if lower_is_better else value / base


def summarise(rounds, commands, lower_is_better):
    summary = {}
    for name in commands:
        values = [row[name]["value"] for row in rounds]
        summary[name] = {"median": statistics.median(values), "least": min(values), "most": max(values)}
        if name != "a":
            ratios = [ratio(row, name, lower_is_better) for row in rounds]
            low, high, coverage = sign_interval(ratios)
            summary[name].update(ratio=statistics.median(ratios), low=low, high=high, coverage=coverage,
                                 bootstrap=bootstrap_interval(ratios), ratios=ratios)
    return summary


def main(arguments):
    options, commands = parse(arguments)
    about = machine()
    if about["load_before"] > 0.5 * about["cores"]:
        print(f"note: the load is {about['load_before']:.1f} before the first run", file=sys.stderr)
    try:
        rounds = measure(options, commands)
    except RunFailed as error:
        print(f"paired_runs: {error}", file=sys.stderr)
        return 3
    summary = summarise(rounds, commands, options.lower_is_better)
    print(f"\n{len(rounds)} rounds, {about['cores']} cores, {about['cpu']}")
    for name, figures in summary.items():
        line = f"{name}: median {figures['median']:.1f} ({figures['least']:.1f} to {figures['most']:.1f})"
        if "ratio" in figures:
            line += (f"; ratio to a: median {figures['ratio']:.4f}, {figures['coverage']:.1%} interval "
                     f"{figures['low']:.4f} to {figures['high']:.4f}, bootstrap "
                     f"{figures['bootstrap'][0]:.4f} to {figures['bootstrap'][1]:.4f}")
        print(line)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"machine": about, "commands": commands, "rounds": rounds, "summary": summary},
                      file, indent=1)
            file.write("\n")
    if options.min_ratio is not None and summary["b"]["ratio"] < options.min_ratio:
        print(f"paired_runs: the median ratio {summary['b']['ratio']:.4f} is below {options.min_ratio}",
              file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
