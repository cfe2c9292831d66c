# SPDX-License-Identifier: Apache-2.0
"""Makes small random programs for the machine, an interpreter (victims/machine/). The same number gives the same
program.

A program is a list of blocks of lines and begins with block 0. Its visible results must be the same in every run.
If the result of a line depends on timing, the line is loose: it begins with "~", and its result is not compared. A
process or thread that is ended at an unknown moment is volatile. While another thread or process uses a descriptor,
the program does not use it. It first waits for that thread or process.
"""
import random

from victim_descriptors import FILES, Descriptors
from victim_limits import Limits
from victim_tasks import Tasks

SIGNALS = ("USR1", "USR2", "HUP", "INT", "QUIT", "ALRM", "PROF", "CHLD")
# Parts that --avoid can leave out, while a known difference of that kind is being repaired.
AVOIDABLE = ("sandbox", "drop", "busy", "rawclose")


class Program:
    """A program: its blocks of lines, and the build of the machine that runs the first process (`flavour`)."""

    def __init__(self, blocks, flavour="glibc", notes=()):
        self.blocks = blocks  # number -> list of lines
        self.flavour = flavour
        self.notes = list(notes)

    def text(self):
        out = ["# " + note for note in self.notes] + ["# flavour: " + self.flavour]
        for number in sorted(self.blocks):
            if self.blocks[number] or number == 0:
                out.append("block %d" % number)
                out += self.blocks[number]
        return "\n".join(out) + "\n"

    @classmethod
    def parse(cls, text):
        blocks, flavour, notes, block = {0: []}, "glibc", [], 0
        for line in text.split("\n"):
            words = line.split()
            if line.startswith("# flavour:"):
                flavour = words[2]
            elif line.startswith("#"):
                notes.append(line[1:].strip())
            elif words and words[0] == "block":
                block = int(words[1])
                blocks.setdefault(block, [])
            elif words:
                blocks[block].append(" ".join(words))
        return cls(blocks, flavour, notes)

    def size(self):
        return sum(map(len, self.blocks.values()))


class Maker(Descriptors, Tasks, Limits):
    """Makes one program."""

    def __init__(self, seed, flavours, avoid=()):
        self.random = random.Random(seed)
        self.avoid = avoid  # words of AVOIDABLE
        self.flavours = flavours
        self.blocks = {0: []}
        self.next_slot = 0
        self.next_task = 0
        self.detached = False
        self.alien = False  # the program has become another user or is behind a filter, so some actions fail
        self.depth = 0
        self.made = 0
        self.static = False  # inside a program that runs without the agent but passes LD_PRELOAD on
        self.doomed = False  # the process will be ended at an unknown moment, so it must make no files
        self.raced = False  # threads opened files at the same time, so numbers differ from run to run
        self.flavour = "glibc"

    # -- small choices

    def chance(self, of_hundred):
        return self.random.randrange(100) < of_hundred

    def pick(self, *choices):
        return self.random.choice(choices)

    def file(self):
        return self.random.randrange(FILES)

    def size(self):
        return self.pick(1, 10, 100, 512, 1000, 4096, 9000, 30000)

    def slot(self):
        self.next_slot += 1
        return self.next_slot % 100

    def task(self):
        self.next_task += 1
        return self.next_task % 60

    def block(self, lines):
        number = len(self.blocks)
        self.blocks[number] = lines
        return "@%d" % number

    def loose(self, lines):
        """Makes lines loose. Several tasks run them at once, so which task reads which part of a file is chance."""
        return [line if line.startswith(("~", "p")) or line.split()[0] in ("wait", "join") else "~" + line
                for line in lines]

    def other(self):
        kinds = [kind for kind in self.flavours if kind not in ("glibc", "python")]
        if self.static:  # the other builds would not start with the agent in LD_PRELOAD
            kinds = [kind for kind in kinds if kind == "static"]
        return self.pick("glibc", "glibc", "glibc", *kinds)

    # -- signals

    def handler(self):
        slot = self.slot()
        body = ["%s %d %d 0" % (self.pick("pread", "preadv"), slot, self.size())
                for _ in range(self.pick(1, 2))]  # fmt: skip
        if self.chance(20):
            more = self.slot()
            body += ["open %d %d" % (more, self.file()), "pread %d 100 0" % more, "close %d" % more]
        return ["open %d %d" % (slot, self.file())], body

    def signals(self):
        lines, body = self.handler()
        number = self.pick("USR1", "USR2", "HUP", "INT")
        flags = [flag for flag in ("restart", "nodefer", "info", "full") if self.chance(30)]
        if self.chance(50):
            lines.append("altstack %d" % self.pick(2048, 4096, 8192, 16384))
            flags.append("onstack")
        if self.chance(25):
            block = self.block(body + ["jump"])
            lines.append("handle %s %s %s" % (number, block, " ".join(flags)))
            inner = self.block(self.episode() + ["raise %s" % number])
            return lines + ["try %s" % inner]
        lines.append("handle %s %s %s" % (number, self.block(body), " ".join(flags)))
        for _ in range(self.pick(1, 3)):
            lines += ["raise %s" % number] + (self.episode() if self.chance(50) else [])
        if self.chance(20):
            lines += ["mask %s" % number, "raise %s" % number, "sigwait %s" % number, "unmask %s" % number]
        return lines

    def timers(self):
        """Makes lines in which the handler of a timer reads while the program reads. Some handlers leave by longjmp."""
        lines, body = self.handler()
        which, number = self.pick(("timer", "ALRM"), ("ptimer", "PROF"))
        flags = " ".join(["restart"] + [flag for flag in ("info", "nodefer") if self.chance(30)])
        slot = self.slot()
        lines.append("open %d %d" % (slot, self.file()))
        if self.chance(40):
            block = self.block(self.loose(body) + ["~jump"])
            lines.append("handle %s %s %s volatile" % (number, block, flags))
            inner = self.block(["~%s %d" % (which, self.pick(500, 3000)), "until %d %d" % (slot, self.size())])
            return lines + ["~try %s" % inner, "%s 0" % which]
        lines.append("handle %s %s %s volatile" % (number, self.block(self.loose(body)), flags))
        work = self.block(["pread %d %d %d" % (slot, self.size(), self.pick(0, 5)), "seek %d 0" % slot])
        return lines + ["%s %d" % (which, self.pick(200, 1000, 3000)),
                        "loop %d %s" % (self.pick(100, 1000, 3000), work), "%s 0" % which]  # fmt: skip

    def talk(self):
        return [self.pick("say %d", "sayerror %d", "say %d") % self.random.randrange(1000)] + (
            ["sayraw"] if self.chance(20) else [])

    # -- the whole

    def body(self, parts):
        lines = []
        for _ in range(parts):
            lines += self.random.choices(
                (self.episode, self.many, self.passing, self.threads, self.cancelled, self.children,
                 self.killed_child, self.program, self.signals, self.timers, self.oddity, self.talk,
                 self.limits),
                (24, 5, 4, 9, 3, 9, 5, 8, 6, 4, 5, 6, 5))[0]()  # fmt: skip
        return lines

    def end(self, child=False):
        how = self.pick("return", "exit", "_exit", "quick_exit", "rawexit", "abort", "signal", "texit", "exec",
                        "killme", "busy")  # fmt: skip
        if how == "return":
            return []
        if how == "texit":
            return ["texit"] if not child else ["_exit 9"]
        if how == "abort":
            return ["abort"]
        if how == "signal":
            return ["raise %s" % self.pick("KILL", "TERM", "SEGV", "USR1", "PIPE", "XCPU", "ALRM")]
        if how == "exec":
            self.depth += 1
            flavour = self.other()
            static, self.static = self.static, self.static or flavour in ("static", "musl")
            block = self.block(self.episode() + (self.end(child) if self.depth < 3 else []))
            self.static = static
            self.depth -= 1
            by = self.pick("execve", "execv", "execvp", "fexecve", "execveat")
            clean = " clean" if by not in ("execv", "execvp") and self.chance(20) else ""
            return ["exec %s %s %s%s" % (flavour, block, by, clean)]
        if how == "killme" and not child and not self.alien:
            slot = self.slot()
            return ["open %d %d" % (slot, self.file()), "flush",
                    "~killme %d %s" % (self.random.randrange(5000), self.pick("KILL", "KILL", "TERM")),
                    "until %d %d" % (slot, self.size())]  # fmt: skip
        if how == "busy":
            return self.busy_at_the_end() + [self.pick("exit 0", "_exit 1", "quick_exit 2", "raise KILL", "abort")]
        return ["%s %d" % (self.pick("exit", "_exit", "quick_exit", "rawexit"), self.pick(0, 0, 1, 42, 255))]

    def daemon(self):
        """Makes lines that start a process. It outlives the program and goes on reading."""
        body = self.block(self.loose(self.episode()))
        return ["flush", "double %d %s %d" % (self.task(), body, self.pick(0, 2000, 100000, 600000))]


def make(seed, flavours=("glibc",), avoid=()):
    """Returns the program of `seed`."""
    maker = Maker(seed, flavours, avoid)
    if maker.chance(5):
        maker.flavour = maker.other()
        # A program without the agent passes LD_PRELOAD on unchanged, so the agent would be loaded before ASan.
        maker.static = maker.flavour in ("static", "musl")
    lines = maker.body(maker.pick(1, 1, 2, 3, 4))
    if maker.chance(4):
        lines += maker.daemon()
    if maker.chance(18) and "sandbox" not in avoid:
        lines += maker.sandbox()
    lines += maker.end()
    maker.blocks[0] = lines
    blocks = {number: [" ".join(line.split()) for line in lines] for number, lines in maker.blocks.items()}
    return Program(blocks, maker.flavour, ["seed: %s" % seed])
