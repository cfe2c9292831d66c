#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs thousands of small generated programs: each alone, under the agent and under the recorder. With --keep,
shrinks programs whose runs differ, and keeps them.

    generate.py --programs 2000               with a seed of its own, which it prints
    generate.py --programs 100000 --state F   goes on where the last run with F ended
    generate.py --seed 7 --first 123 --programs 1 --show
    generate.py --replay tests/torture/found  the programs that were kept

The environment says where the programs are, as for torture.py: PENSTOCK_BIN, PENSTOCK_AGENT_LIB,
PENSTOCK_TORTURE; --build DIR stands for all three. Status 1: differences or faults.
"""
import argparse
import collections
import json
import multiprocessing
import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import victim_differences
import victim_programs as programs
import victim_runs as runs
import victim_shrink as shrink

# The options for a small ring, since each of the many runs makes one.
SMALL = ("--buffer", "16M", "--memory", "off", "--gpu", "off")


def options_of(number):
    """Returns the options of the recorder for a program. Every sixteenth program has the default options."""
    return () if number % 16 == 0 else SMALL


def kinds(verdict):
    return {(one.mode, one.kind) for one in verdict.differences}


def smallest(place, program, difference, options, every_byte):
    """Returns the smallest program found that still has the difference. Runs each candidate up to twice, since a
    difference may not show in every run."""

    def differs(candidate):
        for _ in range(2):
            verdict = victim_differences.examine(place, candidate, (difference.mode,), options, 1, every_byte)
            if (difference.mode, difference.kind) in kinds(verdict):
                return True
            if verdict.word in ("wrong", "stuck"):
                return False
        return False

    return shrink.shrink(program, differs) if differs(program) else None


def signature(program, difference):
    words = sorted({line.split()[0].lstrip("~") for lines in program.blocks.values() for line in lines})
    return difference.kind, tuple(words)


def keep(folder, program, difference):
    """Writes the program to a file that is named after the difference's kind and the main actions, unless it exists.
    Returns the name."""
    kind, words = signature(program, difference)
    essential = [word for word in words if word not in ("open", "read", "close", "flush", "pread")]
    name = "-".join([kind, *(essential or list(words))])[:100].rstrip("-")
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        text = re.sub(r"/tmp/\S+/", "", difference.text)[:200]
        program.notes = ["shows: %s" % kind, "first seen in mode: %s" % difference.mode, "seen: %s" % text] + [
            note for note in program.notes if note.startswith("seed:")]  # fmt: skip
        with open(path, "w", encoding="utf-8") as file:
            file.write(program.text())
    return name


class Totals:
    def __init__(self):
        self.words = collections.Counter()
        self.kinds = collections.Counter()
        self.kept = set()
        self.noted = self.spans = self.lost = self.unexplained = self.processes = 0

    def line(self):
        return "%d programs: %d same, %d different (%s); %d bytes read, %d in spans, %d counted as lost, " \
            "%d unexplained; not judged: %d unsteady, %d stuck, %d wrong" % (
                sum(self.words.values()), self.words["same"], self.words["different"],
                ", ".join("%s %d" % pair for pair in sorted(self.kinds.items())) or "none",
                self.noted, self.spans, self.lost, self.unexplained, self.words["unsteady"],
                self.words["stuck"], self.words["wrong"])  # fmt: skip


def work(number, job, tasks, results, places, seed, want):
    place = runs.Place(places, job)
    flavours = [kind for kind in places.flavours() if not want.flavours or kind in want.flavours]
    seen = collections.Counter()
    try:
        while True:
            index = tasks.get()
            if index is None:
                return
            program = programs.make("%s.%d" % (seed, index), flavours, want.avoid)
            verdict = victim_differences.examine(place, program, want.modes, options_of(index),
                                                 every_byte=want.every_byte)
            verdict.leave_out(want.ignore)
            kept = []
            if want.keep and verdict.word == "different":
                # Takes a difference of the kind taken least often so far. For each kind, only the first few
                # programs are shrunk.
                difference = min(verdict.differences, key=lambda one: seen[one.kind])
                seen[difference.kind] += 1
                if seen[difference.kind] <= want.shrink:
                    small = smallest(place, program, difference, options_of(index), want.every_byte)
                    if small is not None:
                        kept.append(keep(want.keep, small, difference))
            sums = verdict.sums
            results.put((index, verdict.word, [str(one) for one in verdict.differences],
                         [one.kind for one in verdict.differences], kept,
                         (sums.noted, sums.spans, sums.lost, sums.unexplained)))  # fmt: skip
    except Exception as error:  # ends the run and reports it
        results.put((number, "broken", [repr(error)], [], [], (0, 0, 0, 0)))
        raise
    finally:
        place.close()


def campaign(places, want):
    state = {"seed": want.seed, "next": want.first}
    if want.state and os.path.exists(want.state):
        with open(want.state, encoding="utf-8") as file:
            state = json.load(file)
    seed, first = state["seed"], state["next"]
    print("seed %s, programs %d to %d" % (seed, first, first + want.programs - 1), flush=True)
    tasks, results = multiprocessing.Queue(), multiprocessing.Queue()
    for index in range(first, first + want.programs):
        tasks.put(index)
    jobs = []
    for job in range(want.jobs):
        tasks.put(None)
        jobs.append(multiprocessing.Process(target=work, args=(-1, job, tasks, results, places, seed, want)))
        jobs[-1].start()
    totals, broken, shown = Totals(), False, time.monotonic()
    for done in range(want.programs):
        index, word, texts, found, kept, sums = results.get()
        if word == "broken":
            print("the generator is broken: %s" % texts, flush=True)
            broken = True
            break
        totals.words[word] += 1
        totals.kinds.update(set(found) if word == "different" else ())
        totals.noted += sums[0]
        totals.spans += sums[1]
        totals.lost += sums[2]
        totals.unexplained += sums[3]
        if word != "same":
            for text in texts[:4] or [""]:
                print("%s.%d: %s %s" % (seed, index, word, text), flush=True)
            for name in kept:
                print("    kept: %s" % name, flush=True)
        if want.state and (done % 50 == 49 or done == want.programs - 1):
            with open(want.state + ".new", "w", encoding="utf-8") as file:
                json.dump({"seed": seed, "next": first + done + 1}, file)
            os.replace(want.state + ".new", want.state)
        if time.monotonic() - shown > 60:
            print(totals.line(), flush=True)
            shown = time.monotonic()
    for job in jobs:
        if broken:
            job.terminate()
        job.join()
    print(totals.line(), flush=True)
    # Programs that are unsteady, stuck or wrong show faults of the generator. A few of them are tolerated.
    off = totals.words["unsteady"] + totals.words["stuck"] + totals.words["wrong"]
    if off > want.programs // 100 + 2:
        print("too many programs are unsteady, stuck or wrong: the generator is at fault", flush=True)
        return 1
    return 1 if broken or totals.words["different"] else 0


def replay(places, want):
    """Runs each kept program up to --times times in every mode."""
    names = []
    for path in want.replay:
        names += [path] if os.path.isfile(path) else sorted(
            entry.path for entry in os.scandir(path) if entry.is_file() and not entry.name.startswith("."))
    place = runs.Place(places)
    failed, bad = 0, 0
    for name in names:
        with open(name, encoding="utf-8") as file:
            program = programs.Program.parse(file.read())
        if program.flavour not in places.flavours():
            print("%s: %s is not built" % (name, program.flavour))
            bad += 1
            continue
        for _ in range(want.times):
            verdict = victim_differences.examine(place, program, victim_differences.MODES, SMALL,
                                                  every_byte=want.every_byte)
            if verdict.word != "same":
                break
        failed += verdict.word == "different"
        bad += verdict.word in ("stuck", "wrong", "unsteady")
        print("%s: %s %s" % (os.path.basename(name), verdict.word,
                             "; ".join(map(str, verdict.differences[:3]))), flush=True)  # fmt: skip
    place.close()
    print("%d programs, %d different, %d bad or not built" % (len(names), failed, bad))
    return 1 if failed or bad else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--seed", help="default: the time")
    parser.add_argument("--first", type=int, default=0, help="number of the first program of the seed")
    parser.add_argument("--state", help="file that says where to go on")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", help="folder for the shrunken programs that differ")
    parser.add_argument("--shrink", type=int, default=3, help="how many of one sort each job shrinks")
    parser.add_argument("--flavours", type=lambda text: tuple(text.split(",")),
                        help="default: glibc,static,musl,asan,python, as far as they are built")  # fmt: skip
    parser.add_argument("--avoid", default=(), type=lambda text: tuple(text.split(",")),
                        help="what programs shall not do: " + ", ".join(programs.AVOIDABLE))  # fmt: skip
    parser.add_argument("--ignore", default="", type=lambda text: tuple(text.split(",")),
                        help="sorts of differences to leave out: missing,results,...")  # fmt: skip
    parser.add_argument("--every-byte", action="store_true",
                        help="count also the bytes that are known to be missing: RELIABILITY.md")  # fmt: skip
    parser.add_argument("--modes", default=("bare", "mixed"), type=lambda text: tuple(text.split(",")),
                        help="bare, record, stage, override; mixed: one of the last three, by program")  # fmt: skip
    parser.add_argument("--replay", nargs="+", help="programs, or folders of them")
    parser.add_argument("--times", type=int, default=3, help="how often a kept program is run")
    parser.add_argument("--show", action="store_true", help="print the programs, run nothing")
    parser.add_argument("--build", help="build folder")
    want = parser.parse_args()
    want.seed = want.seed or "%d" % time.time()
    want.keep = os.path.abspath(want.keep) if want.keep else None
    want.state = os.path.abspath(want.state) if want.state else None
    want.replay = [os.path.abspath(path) for path in want.replay] if want.replay else None
    build = os.path.abspath(want.build) if want.build else None
    places = runs.Places(*(
        (build + "/bin", build + "/lib/libpenstock_agent.so", build + "/tests/torture") if build else
        (os.environ["PENSTOCK_BIN"], os.environ["PENSTOCK_AGENT_LIB"], os.environ["PENSTOCK_TORTURE"])))  # fmt: skip
    if want.show:
        for index in range(want.first, want.first + want.programs):
            print(programs.make("%s.%d" % (want.seed, index), places.flavours(), want.avoid).text())
        return 0
    return replay(places, want) if want.replay else campaign(places, want)


if __name__ == "__main__":
    sys.exit(main())
