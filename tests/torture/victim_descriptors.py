# SPDX-License-Identifier: Apache-2.0
"""Makes the parts of random programs that open, duplicate, pass, read and close descriptors and streams."""

FILES = 16
READS = ("read", "pread", "readv", "preadv", "preadv2", "readchk", "preadchk")
SAFE = ("pread", "preadv", "read")  # allowed in handlers and sandboxes too
AT_OFFSET = ("pread", "preadv", "preadv2", "preadchk")


class Descriptors:
    """A part of victim_programs.Maker."""

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
        """Chooses a way to open a descriptor or stream. Returns (slot, kind, lines that open it)."""
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
        """Returns lines that open a descriptor or stream and then duplicate, read or close it."""
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
