# SPDX-License-Identifier: Apache-2.0
"""Makes every system call of the agent, the recorder and recover fail once in every way in which it can fail.

failpoints.py [--full | --seconds N] [--seed N] [--mode NAME]... [--only TEXT] [--jobs N] [--rows]

A point is one system call in the run of a short program. A failure is an error that the call may return;
"ENOSPC+" is an error of this call and of all later ones. A call may also do fewer bytes than asked, or
SIGKILL may come before or after it, to its process or to all processes. Each failure at each point is a
run of its own. After the run, the promises of run_modes.py must hold. Without --full, the script runs for
--seconds. It takes the kinds of failures of all modes in turn, in an order that differs each day.
"""
import argparse
import collections
import concurrent.futures
import os
import random
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "integration")]
import run_modes  # noqa: E402
import runs  # noqa: E402

LASTING = ("ENOSPC", "EIO", "EMFILE", "ENOMEM")
TRIES = 4
KILLS = ("kill", "kill-after", "all", "all-after")


class Case:
    """One failure at one point of a mode. `variant`: whether an earlier trace already has the name of the output."""

    def __init__(self, mode, point, failure, variant):
        self.mode, self.point, self.failure, self.variant = mode, point, failure, variant
        self.state, self.problems, self.notes, self.where = "", [], [], ""

    def __str__(self):
        return "%s %s %s%s" % (self.mode.name, self.point, self.failure,
                               " (the name is taken)" if self.variant else "")  # fmt: skip


def cases_of(mode):
    """Returns all cases of a mode. Their points come from runs of both variants in which nothing fails."""
    found = {}
    for variant in (False, True):
        for line in mode.list_points(variant):
            point, *failures = line.split("\t")
            if not mode.is_ours(point):
                continue
            lasting = [name + "+" for name in failures if name in LASTING]
            for failure in [*failures, *lasting, *KILLS]:
                found.setdefault((point, failure), []).append(variant)
    # If both variants have a point, its failures are tried in the first and the second variant in turn.
    return [Case(mode, *key, variants[number % len(variants)])
            for number, (key, variants) in enumerate(found.items())]  # fmt: skip


def sample(cases, seed):
    """Yields the cases so that the combinations of mode, program and failure take turns."""
    generator = random.Random(seed)
    strata = collections.defaultdict(list)
    for case in cases:
        strata[(case.mode.name, case.point.split(":")[0], case.failure)].append(case)
    for stratum in strata.values():
        generator.shuffle(stratum)
    order = sorted(strata)
    generator.shuffle(order)
    while strata:
        for key in list(order):
            if key in strata:
                yield strata[key].pop()
                if not strata[key]:
                    del strata[key]


def place(frames):
    """Returns our functions that are on the stack at the point, innermost first."""
    names = []
    for frame in frames:
        module, offset = frame.rsplit("+", 1)
        done = subprocess.run(["addr2line", "-f", "-C", "-e", module, offset], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)  # fmt: skip
        name = (done.stdout.splitlines() or ["?"])[0].split("(")[0]
        if name not in names and name != "??":
            names.append(name.replace("penstock::", ""))
    return " < ".join(names[:5])


def attempt(case):
    """Runs a case, up to TRIES times if a run does not reach the point: the collector looks at the ring more often in
    some runs than in others, so the number of its calls differs."""
    for _ in range(TRIES):
        result = case.mode.inject(case)
        if result["reached"]:
            break
    if not result["reached"]:
        case.state = "missed"
    else:
        case.state = "failed" if case.problems else "passed"
        if case.problems:
            case.where = place(result["stack"])
    return case


def rows(cases, points):
    """Returns the rows of RELIABILITY.md: how many failures were tried, by mode and kind."""
    table = collections.defaultdict(lambda: collections.Counter())
    for case in cases:
        if case.state != "missed":
            table[case.mode.name][case.failure] += 1
    kinds = ["ENOSPC", "ENOSPC+", "EIO", "EIO+", "EMFILE", "EMFILE+", "ENOMEM", "ENOMEM+", "EINTR", "EACCES",
             "short", *KILLS]  # fmt: skip
    print("| run | points | %s | failed |" % " | ".join(kinds))
    print("|---|---:|%s---:|" % ("---:|" * len(kinds)))
    for name, counts in table.items():
        bad = sum(case.state == "failed" for case in cases if case.mode.name == name)
        print("| %s | %d | %s | %d |" % (name, points[name],
                                         " | ".join(str(counts[kind]) for kind in kinds), bad))  # fmt: skip


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--seed", type=int, default=int(time.time() // 86400))
    parser.add_argument("--mode", action="append")
    parser.add_argument("--only", default="", help="only points that contain this")
    parser.add_argument("--failure", default="", help="only this failure")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--rows", action="store_true", help="print the rows of RELIABILITY.md")
    arguments = parser.parse_args()
    cases, points = [], {}
    with runs.Workplace() as workplace:
        for mode in run_modes.modes(workplace):
            if arguments.mode and mode.name not in arguments.mode:
                continue
            found = cases_of(mode)
            points[mode.name] = len({case.point for case in found})
            cases += [case for case in found if arguments.only in str(case)
                      and arguments.failure in ("", case.failure)]  # fmt: skip
        order = list(sample(cases, arguments.seed))
        end = time.monotonic() + (arguments.seconds if not arguments.full else 1e9)
        done = []
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            waiting = iter(order)
            running = set()
            while True:
                while len(running) < arguments.jobs and time.monotonic() < end:
                    case = next(waiting, None)
                    if case is None:
                        break
                    running.add(pool.submit(attempt, case))
                if not running:
                    break
                finished, running = concurrent.futures.wait(
                    running, return_when=concurrent.futures.FIRST_COMPLETED)  # fmt: skip
                for future in finished:
                    case = future.result()
                    done.append(case)
                    for problem in case.problems:
                        print("failed  %s: %s  [%s]" % (case, problem, case.where), flush=True)
    counts = collections.Counter(case.state for case in done)
    notes = collections.Counter(note for case in done for note in case.notes)
    for note, count in sorted(notes.items()):
        print("note    %5d x %s" % (count, note))
    for name, count in points.items():
        print("points  %-8s %5d points, %6d failures, %6d tried" % (
            name, count, sum(case.mode.name == name for case in cases),
            sum(case.mode.name == name for case in done)))  # fmt: skip
    print("seed %d: %d passed, %d failed, %d did not come by again" % (
        arguments.seed, counts["passed"], counts["failed"], counts["missed"]))  # fmt: skip
    if arguments.rows:
        rows(done, points)
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
