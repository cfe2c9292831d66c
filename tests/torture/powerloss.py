# SPDX-License-Identifier: Apache-2.0
"""Checks that, if power fails at any moment of a run, the disk holds the old or the new trace as a whole.

powerloss.py [--states N] [--seed N] [--mode NAME]...

The script replays the logged writes of a run (failpoints --writes) up to each operation. The model of the disk
is the usual one of such tests (ALICE, Pillai and others, OSDI 2014). Operations on a file before its last
fsync are on the disk. Any of the later ones may be there, in any order, and writes may be torn at sectors of
512 bytes. A file may also have its new length with zeros in place of the new bytes. Changes of names before
the last fsync of the folder are on the disk. Later changes of names get there in their order, so the disk has
some number of them, independently of the files' bytes.
"""
import argparse
import collections
import os
import random
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "integration")]
import run_modes  # noqa: E402
import runs  # noqa: E402
import support  # noqa: E402

SECTOR = 512


class Log:
    """The operations of a run and the bytes that it wrote."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.lines = [line.rstrip("\n").split("\t") for line in file]
        with open(path + ".data", "rb") as file:
            self.data = file.read()
        self.unseen = sum(line[0] in ("map", "unknown") for line in self.lines)


class Disk:
    """The operations that were sent to a disk up to a moment, and how many of them are certainly on it."""

    def __init__(self, first):
        self.files = {"old": [("write", 0, first)]} if first else {}
        self.sure = {"old": 1} if first else {}  # number of a file's operations that are certain
        self.names = [("link", "old", "t.penstock")] if first else []
        self.sure_names = len(self.names)

    def apply(self, line, log):
        kind, rest = line[0], line[1:]
        if kind == "open":
            name = os.path.basename(rest[1])
            if rest[0] not in self.files:
                self.files[rest[0]], self.sure[rest[0]] = [], 0
                if "#" not in name:
                    self.names.append(("link", rest[0], name))
        elif kind == "write":
            inode, offset, size, at = rest[0], *map(int, rest[1:])
            self.files[inode].append(("write", offset, log.data[at : at + size]))
        elif kind == "truncate":
            self.files[rest[0]].append(("truncate", int(rest[1]), b""))
        elif kind == "allocate":
            keeps_size, punches = int(rest[1]) & 1, int(rest[1]) & 2
            if not keeps_size and not punches:
                self.files[rest[0]].append(("extend", int(rest[2]) + int(rest[3]), b""))
        elif kind == "sync":
            self.sure[rest[0]] = len(self.files[rest[0]])
        elif kind == "syncfolder":
            self.sure_names = len(self.names)
        elif kind == "link":
            self.names.append(("link", rest[0], os.path.basename(rest[1])))
        else:
            self.names.append((kind, *[os.path.basename(path) for path in rest]))

    def folder(self, count):
        """Returns {name: inode} as it is after the first `count` changes of names."""
        names = {}
        for kind, *rest in self.names[:count]:
            if kind == "link":
                names[rest[1]] = rest[0]
            elif kind == "unlink":
                names.pop(rest[0], None)
            elif kind == "rename" and rest[0] in names:
                names[rest[1]] = names.pop(rest[0])
            elif kind == "exchange":
                names[rest[0]], names[rest[1]] = names[rest[1]], names[rest[0]]
        return names

    def contents(self, inode, how, generator):
        """Returns the bytes of a file. `how` says which uncertain operations are on the disk: "all", "none", "chance"
        (a random part), or "zeros" (none, but the file has its new length)."""
        kept = bytearray()
        length = 0
        for number, (kind, offset, data) in enumerate(self.files[inode]):
            sure = number < self.sure[inode] or how == "all"
            if kind == "write":
                end = offset + len(data)
                length = max(length, end)
                if sure:
                    put(kept, offset, data)
                elif how == "chance" and generator.random() < 0.6:
                    whole = generator.random() < 0.6
                    size = len(data) if whole else generator.randrange(len(data) + 1) // SECTOR * SECTOR
                    put(kept, offset, data[:size])
            elif sure or (how == "chance" and generator.random() < 0.5):
                length = offset if kind == "truncate" else max(length, offset)
                if kind == "truncate":
                    del kept[offset:]
                else:
                    put(kept, offset, b"")
            elif kind != "truncate":
                length = max(length, offset)
        if how == "zeros":
            put(kept, length, b"")
        return bytes(kept)


def put(contents, offset, data):
    if len(contents) < offset:
        contents.extend(bytes(offset - len(contents)))
    contents[offset : offset + len(data)] = data


def states(log, first, generator, some):
    """Yields (moment, {name: bytes}) for folders that may be found after a power loss at that moment. For each moment
    and each number of name changes there are three fixed folders and `some` random ones."""
    disk = Disk(first)
    for moment, line in enumerate([None, *log.lines]):
        if line:
            disk.apply(line, log)
        counts = {disk.sure_names, len(disk.names)}
        if len(disk.names) > disk.sure_names:
            counts.add(generator.randint(disk.sure_names, len(disk.names)))
        for count in sorted(counts):
            names = disk.folder(count)
            for how in ("none", "all", "zeros", *["chance"] * some):
                yield moment, {name: disk.contents(inode, how, generator) for name, inode in names.items()}


class Checker:
    """Checks folders that are found after a power loss."""

    def __init__(self, place, mode, first, final, strict):
        self.place, self.mode, self.first, self.final, self.strict = place, mode, first, final, strict
        self.seen = {}
        self.outcomes = collections.Counter()

    def problem(self, folder):
        """Returns what is wrong with a folder, or ""."""
        key = tuple(sorted((name, hash(data)) for name, data in folder.items()))
        if key not in self.seen:
            self.seen[key] = self.look(folder)
        return self.seen[key]

    def look(self, folder):
        shutil.rmtree(self.place.out)
        os.mkdir(self.place.out)
        for name, data in folder.items():
            with open(os.path.join(self.place.out, name), "wb") as file:
                file.write(data)
        for name, data in sorted(folder.items()):
            path = os.path.join(self.place.out, name)
            done = subprocess.run([support.program("penstock-validate"), path], check=False, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)  # fmt: skip
            if done.returncode not in (0, 4):
                return "validate %s: %d %s" % (name, done.returncode, done.stderr[-200:])
            final = name.endswith(".penstock")
            if final and self.first is not None and data == self.first:
                self.outcomes["old"] += 1
                continue
            summary = runs.validate(path) if done.returncode == 0 else None
            if summary and summary["sound"] and summary["spans"] < self.final and final:
                return "%s: sound, but %d spans of %d" % (name, summary["spans"], self.final)
            if final and self.strict and (not summary or not summary["sound"]):
                return "%s: %s" % (name, done.stderr.strip() or done.stdout.strip().splitlines()[1:])
            self.outcomes["%s: %s" % ("T" if final else "beside it", "whole" if summary and summary["sound"]
                           else "readable" if summary else "refused")] += 1  # fmt: skip
        if self.first is not None and "t.penstock" not in folder:
            return "the earlier trace is gone"
        if "t.penstock.part" in folder:
            before = folder.get("t.penstock")
            done = runs.recover(self.place)
            if done.returncode not in (0, 3, 4) or len(done.stderr.splitlines()) != 1:
                return "recover: %d %r" % (done.returncode, done.stderr)
            path = self.place.trace
            if done.returncode != 0 and before is not None:
                with open(path, "rb") as file:
                    if file.read() != before:
                        return "recover failed and changed the trace"
        return ""


def replay(mode, variant, arguments, generator):
    """Returns how many states of a mode were tried, and how many kinds of problems were found."""
    place = runs.Place(mode.workplace)
    try:
        mode.prepare(place, variant)
        first = None
        if variant:
            with open(place.trace, "rb") as file:
                first = file.read()
        before = {}
        for name in os.listdir(place.out):
            with open(os.path.join(place.out, name), "rb") as file:
                before[name] = (os.stat(file.fileno()).st_ino, file.read())
        path = os.path.join(place.folder, "writes")
        ended = mode.workplace.run(place, ["--writes", place.out, path], mode.command(place), mode.extra(place))
        case = run_modes.Nothing(variant)
        mode.check(case, ended)
        assert not case.problems, case.problems
        log = Log(path)
        for name, (inode, data) in before.items():  # files that were there before the run are on the disk
            if name != "t.penstock" or not variant:
                log.lines[:0] = [["open", str(inode), name], ["write", str(inode), "0", str(len(data)), str(len(log.data))],
                                 ["sync", str(inode)], ["syncfolder", ""]]  # fmt: skip
                log.data += data
        if log.unseen:
            print("note    %s: %d writable maps of the output, of which nothing is known" % (mode.name, log.unseen))
        checker = Checker(place, mode, first, mode.reads, mode.strict)
        total, wrong = 0, collections.OrderedDict()
        for moment, folder in states(log, first, generator, arguments.states):
            total += 1
            problem = checker.problem(folder)
            if problem:
                wrong.setdefault(problem, []).append(moment)
        for problem, moments in wrong.items():
            line = log.lines[min(moments) - 1] if min(moments) else ["the beginning"]
            print("failed  %s%s: %s; %d states, first after: %s" % (
                mode.name, " (the name is taken)" if variant else "", problem, len(moments), " ".join(line)[:120]))  # fmt: skip
        print("states  %-8s%s %5d states of %d operations, %d different: %s" % (
            mode.name, " (the name is taken)" if variant else "", total, len(log.lines), len(checker.seen),
            ", ".join("%s %d" % item for item in sorted(checker.outcomes.items()))))  # fmt: skip
        return total, len(wrong)
    finally:
        place.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--states", type=int, default=4, help="by chance, for each operation and order of names")
    parser.add_argument("--seed", type=int, default=int(time.time() // 86400))
    parser.add_argument("--mode", action="append")
    arguments = parser.parse_args()
    generator = random.Random(arguments.seed)
    total = wrong = 0
    with runs.Workplace() as workplace:
        for mode in run_modes.modes(workplace):
            if arguments.mode and mode.name not in arguments.mode:
                continue
            for variant in (False, True):
                found, bad = replay(mode, variant, arguments, generator)
                total, wrong = total + found, wrong + bad
    print("seed %d: %d states, %d kinds of failure" % (arguments.seed, total, wrong))
    return 1 if wrong or not total else 0


if __name__ == "__main__":
    sys.exit(main())
