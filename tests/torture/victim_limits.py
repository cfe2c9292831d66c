# SPDX-License-Identifier: Apache-2.0
"""Makes the parts of random programs that forbid themselves system calls, or set resource limits. These parts come late
in a program, since they change what the lines after them can do."""
import errno

ERRORS = (errno.EPERM, errno.EMFILE, errno.ENOSYS, errno.ENOMEM, errno.EACCES, errno.EINTR)


class Limits:
    """A part of victim_programs.Maker."""

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
            # The status of the process is that of its last thread. That may be a detached thread, whose status is 0.
            return lines + ["flush", "strict"] + reads + ["sysexit %d" % (0 if self.detached else status)]
        listed = self.pick("reads", "usual", "usual", "memory", "names", "time", "identity", "opening")
        verdict = self.pick("errno", "errno", "kill", "kill", "killthread", "trap")
        # A static program cannot tell the agent in a program that it executes about a filter that kills.
        if self.static:
            verdict = "errno"
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
            child = self.task()  # only a child gets the limit, so that later programs can open their libraries
            inside = ["rlimit NOFILE %d" % self.pick(3, 4, 10, 50), *self.many(), *self.episode()]
            # How many numbers below the limit are free may depend on the order in which threads opened files.
            return ["flush", "fork %d %s%s" % (child, self.block(inside), " volatile" if self.raced else ""),
                    "wait %d" % child]  # fmt: skip
        if what == "FSIZE":
            child = self.task()  # in a child, since a write beyond the limit ends the process
            inside = self.block(["rlimit FSIZE %d" % self.pick(0, 1000, 65536), *self.episode()])
            return ["flush", "fork %d %s" % (child, inside), "wait %d" % child]
        if what == "AS":
            # In a child, which has one thread. Several threads would share the memory in an order that varies.
            room, child = self.pick(1, 4, 32) << 20, self.task()
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
