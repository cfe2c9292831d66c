# SPDX-License-Identifier: Apache-2.0
"""Makes the parts of random programs that start and end threads, processes and other programs."""


class Tasks:
    """A part of victim_programs.Maker."""

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
        """Makes lines that start threads, which still read while the program ends."""
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
        else:  # the program does not wait for this child, so it leaves the shared descriptors alone
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
        """Returns lines that start another program, and adds a block that this program runs."""
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
