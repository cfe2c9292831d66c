# SPDX-License-Identifier: Apache-2.0
"""Makes small programs for the machine (victims/machine/) from a number: the same number gives the
same program.

A program is a list of blocks of lines and begins with block 0. Its visible results must be the same
at every run. A line whose result depends on timing is loose ("~": the result is not compared). A
process or thread that is ended at an unknown moment is volatile. The program leaves a descriptor
alone while another thread or process uses it, until it has waited for that thread or process.
"""
import errno
import random

FILES = 16
READS = ("read", "pread", "readv", "preadv", "preadv2", "readchk", "preadchk")
SAFE = ("pread", "preadv", "read")  # allowed in handlers and sandboxes too
AT_OFFSET = ("pread", "preadv", "preadv2", "preadchk")
SIGNALS = ("USR1", "USR2", "HUP", "INT", "QUIT", "ALRM", "PROF", "CHLD")
# Parts that --avoid can leave out, while a known difference of that kind is being repaired.
AVOIDABLE = ("sandbox", "drop", "busy", "rawclose")
ERRORS = (errno.EPERM, errno.EMFILE, errno.ENOSYS, errno.ENOMEM, errno.EACCES, errno.EINTR)


class Program:
    """The blocks of lines, and how the first process is started."""

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


class Maker:
    """Makes one program."""

    def __init__(self, seed, flavours, avoid=()):
        self.random = random.Random(seed)
        self.avoid = avoid  # words of AVOIDABLE
        self.flavours = flavours
        self.blocks = {0: []}
        self.next_slot = 0
        self.next_task = 0
        self.detached = False
        self.alien = False  # from here on another user or behind a filter: not everything works
        self.depth = 0
        self.made = 0
        self.static = False  # inside a program that runs without the agent but passes LD_PRELOAD on
        self.doomed = False  # will be ended at an unknown moment: must make no files
        self.raced = False  # threads opened files at the same time: their numbers differ from run to run
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
        """Makes lines loose, since several tasks run them at once and share the parts of a file by chance."""
        return [line if line.startswith(("~", "p")) or line.split()[0] in ("wait", "join") else "~" + line
                for line in lines]

    def other(self):
        kinds = [kind for kind in self.flavours if kind not in ("glibc", "python")]
        if self.static:  # the other builds would refuse the agent
            kinds = [kind for kind in kinds if kind == "static"]
        return self.pick("glibc", "glibc", "glibc", *kinds)

    # -- reading

    def reading(self, slot, kind="fd"):
        if kind == "stream":
            how = self.pick("fread", "fread", "fgets", "getline", "getdelim", "fgetc", "seek")
            if how in ("getline", "getdelim"):
                return "%s %d 40000" % (how, slot)
            if how == "fgetc":
                return "fgetc %d" % slot
            if how == "seek":
                return "seek %d 0" % slot
            return "%s %d %d" % (how, slot, max(2, self.size()))
        how = self.pick(*READS, *READS, "mmap", "seek", "rawread", "readbad")
        if how in AT_OFFSET:
            return "%s %d %d %d" % (how, slot, self.size(), self.pick(0, 0, 5, 100, 20000))
        if how == "seek":
            return "seek %d %d" % (slot, self.pick(0, 7))
        if how == "mmap":
            return "mmap %d %d" % (slot, self.pick(1, 4096, 5000))
        return "%s %d %d" % (how, slot, self.size())

    def opened(self):
        """Opens a descriptor or stream: (slot, kind, lines that open it)."""
        slot = self.slot()
        how = self.pick("open", "open", "open", "openat", "openlink", "rawopen", "fopen", "fdopen",
                        "create", "memfd", "pipe")  # fmt: skip
        if how == "create" and (self.doomed or self.made >= FILES):
            how = "open"
        if how == "fopen":
            return slot, "stream", ["fopen %d %d" % (slot, self.file())]
        if how == "fdopen":
            return slot, "stream", ["open %d %d" % (slot, self.file()), "fdopen %d" % slot]
        if how == "create":
            self.made += 1  # only one place in the program makes this file
            return slot, "fd", ["create %d %d" % (slot, self.made - 1),
                                "fill %d %d 0" % (slot, self.size())]  # fmt: skip
        if how == "memfd":
            return slot, "memfd", ["memfd %d %d" % (slot, self.size())]
        if how == "pipe":
            end = self.slot()
            size = self.pick(10, 1000, 4000)
            return slot, "pipe", ["pipe %d %d %d" % (slot, end, size), "close %d" % end]
        return slot, "fd", ["%s %d %d" % (how, slot, self.file())]

    def closing(self, slot):
        how = self.pick("close", "close", "close", "rawclose")
        return "%s %d" % ("close" if "rawclose" in self.avoid else how, slot)

    def episode(self):
        """The life of a descriptor, or a part of its life: how it is opened, duplicated, read and closed."""
        slot, kind, lines = self.opened()
        count = self.pick(0, 1, 1, 2, 3, 8)
        if kind == "pipe":
            lines += ["read %d %d" % (slot, self.pick(10, 100))] * min(count, 3)
            return lines + [self.closing(slot)]
        if kind == "memfd":
            lines += ["pread %d %d 0" % (slot, self.size()) for _ in range(count)]
            return lines + ([self.closing(slot)] if self.chance(70) else [])
        names = [slot]
        for _ in range(count):
            lines.append(self.reading(self.pick(*names), kind))
            if kind == "fd" and self.chance(15):
                more = self.slot()
                how = self.pick("dup", "dup2", "duphigh", "rawdup2" if "rawclose" not in self.avoid else "dup2")
                if how in ("dup2", "rawdup2"):
                    lines.append("open %d %d" % (more, self.file()))
                lines.append("%s %d %d%s" % (how, names[-1], more, " 90" if how == "duphigh" else ""))
                names.append(more)
        if self.chance(60):
            lines += [self.closing(name) if kind == "fd" else "close %d" % name for name in names]
        return lines

    def many(self):
        first, count = 100, self.pick(5, 30, 100, 150)
        lines = ["many %d %d" % (first, count),
                 "manyreads %d %d %d %d" % (first, count, self.pick(1, 100, 3000), self.pick(1, 2, 9))]
        if self.chance(20):
            lines.append(self.pick("closeall", "closerange" if "rawclose" not in self.avoid else "closeall"))
        return lines

    def passing(self):
        slot, got = self.slot(), self.slot()
        lines = ["pair", "open %d %d" % (slot, self.file()), "send %d" % slot]
        if self.chance(50):
            lines.append("close %d" % slot)
        inside = ["receive %d" % got, "read %d %d" % (got, self.size()),
                  "pread %d %d 3" % (got, self.size())]
        if self.chance(60):
            child = self.task()
            return lines + ["flush", "fork %d %s" % (child, self.block(inside)), "wait %d" % child]
        return lines + inside

    # -- threads

    def threads(self):
        slot, lines, tasks = self.slot(), [], []
        lines.append("open %d %d" % (slot, self.file()))
        for _ in range(self.pick(1, 2, 2, 4, 8, 16)):
            task = self.task()
            tasks.append(task)
            body = []
            for _ in range(self.pick(1, 2, 5)):
                body.append("%s %d %d %d" % (self.pick("pread", "preadv"), slot, self.size(), self.pick(0, 9)))
                if self.chance(30):
                    body.append("~%s %d %d" % (self.pick("read", "readv"), slot, self.size()))
            if self.chance(40):
                body += self.loose(self.episode())
                self.raced = True
            if self.chance(30):
                body = ["loop %d %s" % (self.pick(5, 50, 300), self.block(body))]
            if self.chance(15):
                body.append("texit")
            lines.append("thread %d %s%s%s" % (task, self.block(body), self.pick("", "", " small"),
                                               " detached" if self.chance(10) and "texit" not in body else ""))
            self.detached = self.detached or lines[-1].endswith(" detached")
        for line, task in zip(lines[1:], tasks):
            lines.append(("await %d" if "detached" in line else "join %d") % task)
        if self.chance(60):
            lines.append(self.closing(slot))
        return lines

    def cancelled(self):
        slot, task = self.slot(), self.task()
        body = self.block(["until %d %d" % (slot, self.pick(10, 4000))])
        return ["open %d %d" % (slot, self.file()), "thread %d %s volatile" % (task, body),
                "nap %d" % self.pick(0, 300, 2000), "cancel %d" % task, "join %d" % task]  # fmt: skip

    def busy_at_the_end(self):
        """Threads that read while the program ends."""
        if "busy" in self.avoid:
            return []
        slot, lines = self.slot(), []
        lines.append("open %d %d" % (slot, self.file()))
        for _ in range(self.pick(1, 2, 4)):
            lines.append("thread %d %s volatile" % (self.task(), self.block(
                ["until %d %d" % (slot, self.pick(10, 4000))])))  # fmt: skip
        return lines + ["nap %d" % self.pick(0, 500, 3000)]

    # -- processes

    def children(self):
        lines = ["flush"]
        slots = []
        if self.chance(60):  # the child inherits an open descriptor
            slot, kind, opening = self.opened()
            lines += opening
            if kind in ("fd", "stream"):
                slots.append((slot, kind))
                lines += [self.reading(slot, kind) for _ in range(self.pick(0, 1, 2))]
                lines += self.pick([], ["seek %d 0" % slot])
        self.depth += 1
        body = []
        for slot, kind in slots:
            body += [self.reading(slot, kind) for _ in range(self.pick(1, 2, 4))]
        body += self.body(self.pick(1, 2)) if self.depth < 3 else self.episode()
        if self.chance(60):
            body += self.end(child=True)
        self.depth -= 1
        child, how = self.task(), self.pick("fork", "fork", "clonefork", "double")
        lines.append("%s %d %s" % (how, child, self.block(body)))
        if how != "double" and self.chance(85):
            lines.append("wait %d" % child)
        elif how != "double":  # nobody waits for this child, so the descriptors that it shares are not used again
            self.blocks[len(self.blocks) - 1] = [line for line in self.loose(body)
                                                if not line.lstrip("~").startswith("say")]
            return lines
        else:
            self.blocks[len(self.blocks) - 1] = [
                line for line in self.loose(body) if not line.lstrip("~").startswith("say")]
            return lines
        for slot, kind in slots:
            if self.chance(50):
                lines.append("~" + self.reading(slot, kind))
        return lines

    def killed_child(self):
        slot, child = self.slot(), self.task()
        body, doomed, self.doomed = [], self.doomed, True
        if self.chance(30):
            body += self.busy_at_the_end()
        body += self.loose(self.episode()) if self.chance(40) else []
        body.append("until %d %d" % (slot, self.pick(1, 500, 30000)))
        self.doomed = doomed
        return ["open %d %d" % (slot, self.file()), "flush",
                "fork %d %s volatile" % (child, self.block(body)), "nap %d" % self.random.randrange(4000),
                "kill %d %s" % (child, self.pick("KILL", "KILL", "KILL", "TERM", "SEGV", "ABRT")),
                "wait %d" % child]  # fmt: skip

    def program(self):
        """The lines that start another program, and a block for that program."""
        flavour = self.other()
        how = self.pick("vexec", "cloneexec", "spawn", "spawn", "system", "popen", "execmissing")
        if how == "execmissing":
            return ["execmissing"]
        if self.chance(12) and "python" in self.flavours and not self.alien and not self.static:
            flavour = "python"
            body = [self.pick("pyread %d", "pypread %d 1000 5") % self.file() for _ in range(self.pick(1, 3))]
        else:
            self.depth += 1
            static, self.static = self.static, self.static or flavour in ("static", "musl")
            body = self.episode()
            if self.depth < 3 and self.chance(50):
                body += self.body(1)
            body += self.end(child=True) if self.chance(50) else []
            self.static = static
            self.depth -= 1
        block = self.block(body)
        if how in ("system", "popen"):
            return ["flush", "%s %s %s" % (how, flavour, block)]
        child = self.task()
        extra = " clean" if self.chance(15) else " spawnp" if how == "spawn" and self.chance(30) else ""
        return ["flush", "%s %d %s %s%s" % (how, child, flavour, block, extra), "wait %d" % child]

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
        """A timer's handler reads while the program reads; it sometimes leaves by longjmp."""
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

    # -- doors and limits: these come late, since they change the effect of the lines after them

    def sandbox(self):
        slot = self.slot()
        lines = ["open %d %d" % (slot, self.file())] + (self.episode() if self.chance(50) else [])
        if self.chance(50):
            lines.append("read %d 50" % slot)
        after = ["%s %d %d %d" % (self.pick("pread", "preadv"), slot, self.size(), 0)
                 for _ in range(self.pick(1, 3, 9))]  # fmt: skip
        if self.chance(12):
            reads = ["read %d 10" % slot] * self.pick(1, 3)
            status = self.pick(0, 5)
            # The status of the process is that of its last thread, which may be a detached one that is ending.
            return lines + ["flush", "strict"] + reads + ["sysexit %d" % (0 if self.detached else status)]
        listed = self.pick("reads", "usual", "usual", "memory", "names", "time", "identity", "opening")
        verdict = self.pick("errno", "errno", "kill", "kill", "killthread", "trap")
        lines += ["flush", "seccomp %s %s %d %s" % (listed, verdict, self.pick(*ERRORS), self.pick("prctl", "call"))]
        lines += after
        self.alien = True
        if listed == "usual" and self.chance(40):
            child = self.task()
            lines += ["flush", "clonefork %d %s" % (child, self.block(after + ["rawexit 4"])), "wait %d" % child]
        if listed in ("usual", "memory", "names", "time", "identity"):
            if self.chance(40):
                lines += self.episode()
            if self.chance(30) and verdict == "errno":  # other verdicts may end all threads at any moment
                lines += self.threads()
        if self.chance(60):
            lines.append("rawexit %d" % self.pick(0, 3))
        return lines

    def limits(self):
        what = self.pick("NOFILE", "NOFILE", "FSIZE", "AS", "AS", "DATA", "STACK", "MEMLOCK", "ABSOLUTE", "LOCKALL",
                         "NPROC", "DROP", "CORE")  # fmt: skip
        if what in ("LOCKALL", "NPROC", "DROP") and "drop" in self.avoid:
            what = "CORE"
        if what == "NOFILE":
            child = self.task()  # a child, since programs executed after it could not open their libraries
            inside = ["rlimit NOFILE %d" % self.pick(3, 4, 10, 50), *self.many(), *self.episode()]
            # The count of free numbers below the limit may depend on the order in which threads opened files.
            return ["flush", "fork %d %s%s" % (child, self.block(inside), " volatile" if self.raced else ""),
                    "wait %d" % child]  # fmt: skip
        if what == "FSIZE":
            child = self.task()  # a child, since a file that grows too large ends it
            inside = self.block(["rlimit FSIZE %d" % self.pick(0, 1000, 65536), *self.episode()])
            return ["flush", "fork %d %s" % (child, inside), "wait %d" % child]
        if what == "AS":
            room, child = self.pick(1, 4, 32) << 20, self.task()  # a child: threads would share the room by chance
            inside = ["rlimit AS +%d" % room, "grab %d" % (room // 2), *self.episode(), "grab %d" % (2 * room)]
            return ["flush", "fork %d %s" % (child, self.block(inside)), "wait %d" % child]
        if what == "DATA":
            child = self.task()
            inside = self.block(["rlimit DATA %d" % (64 << 20), *self.episode(), "grab %d" % (16 << 20)])
            return ["flush", "fork %d %s" % (child, inside), "wait %d" % child]
        if what == "STACK":
            return ["rlimit STACK %d" % (1 << 20), *self.episode(), "deep 200000"]
        if what == "CORE":
            return ["rlimit CORE 0", *self.episode()]
        if what == "ABSOLUTE":  # like `ulimit -v` in a shell, set before the program starts
            child = self.task()
            room = self.pick(30, 60) << 20
            inside = self.block([*self.episode(), "grab %d" % (8 << 20), *self.episode()])
            outer = self.block(["rlimit AS %d" % room, "exec glibc %s" % inside])
            return ["flush", "fork %d %s" % (child, outer), "wait %d" % child]
        if what == "LOCKALL":
            child = self.task()
            inside = ["rlimit MEMLOCK %d" % (16 << 20), "drop $uid"] if self.chance(70) else []
            inside += ["mlockall %s" % self.pick("now", "future", "now future"), "grab 100000", *self.episode()]
            return ["flush", "fork %d %s" % (child, self.block(inside)), "wait %d" % child]
        if what == "MEMLOCK":
            return ["rlimit MEMLOCK 0", *self.episode()]
        child = self.task()
        inside = ["drop $uid", *self.episode()]
        if what == "NPROC":
            grandchild = self.task()
            inside += ["rlimit NPROC %d" % self.pick(1, 2, 4),
                       "fork %d %s" % (grandchild, self.block(self.episode())), "wait %d" % grandchild]  # fmt: skip
        return ["flush", "fork %d %s" % (child, self.block(inside)), "wait %d" % child]

    def oddity(self):
        what = self.pick("umask 63", "umask 511", "chdir", "dumpable 0", "noclock", "lowfd", "heap 3000000",
                         "ignore CHLD", "closerange", "closestandard", "deep 100000")  # fmt: skip
        if (what == "noclock" and "sandbox" in self.avoid) or (what == "closerange" and "rawclose" in self.avoid):
            what = "lowfd"
        if what in ("closestandard", "closerange"):
            return ["flush", what, *self.episode()]
        return [what, *self.episode()]

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
        """A process that outlives the program and reads on."""
        body = self.block(self.loose(self.episode()))
        return ["flush", "double %d %s %d" % (self.task(), body, self.pick(0, 2000, 100000, 600000))]


def make(seed, flavours=("glibc",), avoid=()):
    """The program of `seed`."""
    maker = Maker(seed, flavours, avoid)
    if maker.chance(5):
        maker.flavour = maker.other()
        # A program without the agent passes LD_PRELOAD on as it is: nobody removes the agent for ASan.
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
