# SPDX-License-Identifier: Apache-2.0
"""Reads forged files, as a stranger may send them. Each program that reads a trace must stay within its limit of
memory, end by itself and write nothing but its output."""
import os
import resource
import subprocess
import time
import zlib

import forge
import support
from harness import Failure, Skip

MEGABYTE = 1 << 20
FREE, PER_BYTE = 256 << 20, 256  # traces/packed/decode_budget.h
# A reader may take this many times the memory of the decoded data, since it also builds the model of a report or
# the levels of a timeline.
DERIVED = 3
PATIENCE = 300
# C1 control characters, and characters that change the direction of text.
TURNING = [chr(code) for code in (*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))]


def big(count):
    return forge.varint(count)


def shared_texts(count, length):
    """Returns a section with a text of `length` bytes, and with `count` more texts that share all its bytes."""
    ids = forge.zigzag(1) + forge.zigzag(0) * count
    lengths = forge.varint(0) + forge.varint(length) + (forge.varint(length) + forge.varint(0)) * count
    return forge.section(forge.STRINGS, big(count + 1) + ids + lengths + b"x" * length, count + 1)


def rows(kind, count, columns):
    return forge.section(kind, bytes(count * columns), count)


def forged(scale):
    """Yields the name and the contents of each file. Bombs, files that are huge when unpacked, grow with `scale`."""
    table = forge.table()
    spans = forge.section(forge.SPANS, forge.spans(65536), 65536, 0, 1000, 1000 + 65536)
    event = rows(forge.EVENTS, 2_000_000, 7)
    counter = rows(forge.COUNTERS, 2_000_000, 4)
    facts = forge.section(forge.FACTS, b"".join(
        forge.text("k%d" % i) + forge.text(b"v" * 4000) for i in range(8000)), 8000)
    yield "texts that share a megabyte", forge.finished(table + [shared_texts(2_000_000, MEGABYTE)] * scale)
    yield "texts within the limit", forge.finished(table + [shared_texts(60, MEGABYTE)] * 4 * scale)
    yield "events of one byte", forge.finished(table + [event] * 8 * scale)
    yield "counters of one byte", forge.finished(table + [counter] * 8 * scale)
    yield "blocks of spans without end", forge.finished(table + [spans] * 500 * scale)
    yield "one block listed without end", forge.finished(
        table + [spans], list(range(4)) + [3] * 20_000 * scale)
    yield "facts", forge.finished(table + [facts] * 50 * scale)
    yield "processes with facts", forge.finished(table[:1] + [forge.section(
        forge.PROCESSES, b"".join(forge.process(i, i + 1, [("f%d" % f, "v" * 400) for f in range(40)])
                                  for i in range(1000)), 1000)] * 20 * scale)  # fmt: skip
    yield "gaps in the tables", forge.finished(
        [forge.section(forge.PROCESSES, b"".join(forge.process(i, 1) for i in range(0, 1 << 20, 65000)), 17),
         forge.section(forge.THREADS, b"".join(forge.thread(i, 9, 1) for i in range(0, 1 << 20, 65000)), 17)])
    for kind in range(1, 12):
        yield "counts of kind %d" % kind, forge.header() + b"".join(
            [*table, forge.section(kind, bytes(64), 0xFFFFFFFF, 0xFFFFFFFF, -(1 << 62), 1 << 62),
             forge.section(kind, bytes(64), 0xFFFFFFFF, 0, 0, 1, raw=0xFFFFFFFF),
             forge.section(kind, bytes(64), 65536, 0, 0, 1, raw=64 << 20, packed=False)])  # fmt: skip
    yield "nothing but sections", forge.header() + forge.section(forge.SUMMARY, bytes(8), 1) * 100_000
    escape = "\x9b31m\x1b]0;owned\x07\x1b[2J<script>alert(1)</script>'\"; $(touch owned) \u202e../../owned\n"
    yield "names that mean something to others", forge.finished([
        forge.section(forge.STRINGS, big(1) + forge.zigzag(1) + forge.varint(0)
                      + forge.varint(len(escape.encode())) + escape.encode(), 1),
        forge.section(forge.PROCESSES, forge.process(
            0, 100, [("loader.0.kind", escape), ("dataset.root", escape)], escape[:60], [escape]), 1),
        forge.section(forge.THREADS, forge.thread(0, 0, 100, escape), 1),
        forge.section(forge.FACTS, forge.text("command") + forge.text(escape) + forge.text("host")
                      + forge.text(escape) + forge.text("cpu.model") + forge.text(escape), 3),
        spans])  # fmt: skip


def high_water(pid):
    """Returns the largest memory (VmHWM) that a process has had so far. The figure of wait4() is no use: it also counts
    this process's memory, which the child had before its exec."""
    try:
        with open("/proc/%d/status" % pid, encoding="utf-8") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def packed(parts):
    """Returns the parts as one gzip file. Only one part at a time is in memory."""
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    return b"".join(packer.compress(part) for part in parts) + packer.flush()


def measured(command, folder):
    """Runs the command, and returns its status, largest memory, standard output and standard error."""

    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with open("/proc/self/oom_score_adj", "w", encoding="utf-8") as file:
            file.write("1000")  # if memory runs out, the kernel kills this process before any other

    begin = time.monotonic()
    with open(os.path.join(folder, "stdout"), "w+b") as out, open(
        os.path.join(folder, "stderr"), "w+b"
    ) as err:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                   cwd=folder, env=support.environment(), preexec_fn=limit)  # fmt: skip
        memory = 0
        while True:
            memory = max(memory, high_water(process.pid))
            pid, status = os.waitpid(process.pid, os.WNOHANG)
            if pid != 0:
                break
            if time.monotonic() - begin > PATIENCE:
                process.kill()
                os.waitpid(process.pid, 0)
                raise Failure("%s: still at it after %d s" % (" ".join(command[:2]), PATIENCE))
            time.sleep(0.005)
        process.returncode = 0
        out.seek(0)
        err.seek(0)
        return os.waitstatus_to_exitcode(status), memory, out.read(1 << 20), err.read(4000)


def readers(path, folder):
    """Yields (name, command) for every program that reads a trace."""
    output = os.path.join(folder, "out")
    yield "validate", [support.program("penstock-validate"), path]
    yield "report", [support.program("penstock"), "report", path]
    yield "report --json", [support.program("penstock"), "report", path, "--json"]
    yield "report --html", [support.program("penstock"), "report", path, "--html", output]
    yield "whatif", [support.program("penstock"), "whatif", path]
    for form in ("perfetto", "chrome", "sqlite", "csv", "pfw", "jsonl"):
        yield "export " + form, [support.program("penstock-export"), path, "--to", form, "-o", output]
    yield "pack", [support.program("penstock-pack"), path, output]
    yield "recover", [support.program("penstock-recover"), path]
    gui = support.program("penstock-gui")
    if os.access(gui, os.X_OK):
        for view in ("overview", "timeline", "stages", "workers", "io"):
            yield "gui " + view, [gui, path, "--view", view, "--screenshot", output]


def read_all(run, name, contents, wanted=None):
    folder = os.path.join(run.folder, "hostile")
    inside = os.path.join(folder, "work")
    os.makedirs(inside, exist_ok=True)
    path = os.path.join(folder, "stranger.penstock")
    with open(path, "wb") as file:
        file.write(contents)
    bound = FREE + PER_BYTE * len(contents)
    for reader, command in readers(path, inside):
        if wanted is not None and reader not in wanted:
            continue
        begin = time.monotonic()
        status, memory, out, err = measured(command, inside)
        seconds = time.monotonic() - begin
        what = "%s, %s" % (reader, name)
        if status < 0 or status > 4:
            raise Failure("%s: ended with %d: %s" % (what, status, err[-300:].decode(errors="replace")))
        if status != 0 and (not err.strip() or len(err.strip().splitlines()) > 1) and reader != "gui":
            raise Failure("%s: says %r" % (what, err))
        shown = (out + err).decode(errors="replace")
        if reader in ("validate", "report", "whatif") and any(c in shown for c in TURNING):
            raise Failure("%s: shows what turns text around or controls a terminal" % what)
        if b"\x1b]" in out or b"\x1b]" in err or b"\x1b[2J" in out:
            raise Failure("%s: sends the terminal what the file says" % what)
        if memory > DERIVED * bound:
            raise Failure("%s: took %d MB of a file of %d kB" % (what, memory >> 20, len(contents) >> 10))
        if memory > run.worst[0]:
            run.worst = (memory, what, len(contents))
        if seconds > run.slowest[0]:
            run.slowest = (seconds, what)
        run.read += 1
        left = sorted(os.listdir(folder)) + sorted(os.listdir(inside))
        allowed = ["stranger.penstock", "work", "out", "stderr", "stdout"]
        if any(entry not in allowed for entry in left):
            raise Failure("%s: wrote %s" % (what, left))
    for entry in os.listdir(inside):
        os.unlink(os.path.join(inside, entry))


def hostile_traces(run):
    """forged traces: bombs, counts without end, tables that refer to themselves, texts for terminals"""
    if not os.access(support.program("penstock"), os.X_OK):
        raise Skip("penstock is not built")
    run.worst, run.slowest, run.read = (0, "", 0), (0.0, ""), 0
    files = 0
    for name, contents in forged(1):
        # A small file goes to every reader. A bomb goes only to the readers that read all of it.
        bomb = not name.startswith(("counts", "names", "gaps"))
        wanted = ("validate", "report", "export perfetto", "pack", "gui timeline") if bomb else None
        if run.quick:
            wanted = ("validate", "report")
        if run.quick and name not in ("texts that share a megabyte", "events of one byte", "counts of kind 1",
                                      "blocks of spans without end", "names that mean something to others"):
            continue
        read_all(run, name, contents, wanted)
        files += 1
    run.notes.append("%d files, read %d times; most memory %d MB (%s, of %d kB); longest %.1f s (%s)" % (
        files, run.read, run.worst[0] >> 20, run.worst[1], run.worst[2] >> 10, *run.slowest))


def hostile_recovery(run):
    """a T.part that names somebody else's file as its ring: recover neither changes nor removes this file"""
    mine = os.path.join(run.folder, "mine.penstock")
    traced = run.start(["env", "LD_PRELOAD=" + support.AGENT, "PENSTOCK_OUT=" + mine,
                        os.path.join(os.environ["PENSTOCK_TORTURE"], "torture_victim"), "paced", "20", "0"])
    if traced.status != 0 or not os.path.exists(mine):
        raise Failure("no recording: %s" % traced.stderr)
    with open(mine, "rb") as file:
        before = file.read()
    part = os.path.join(run.folder, "stranger.penstock.part")
    for ring in (mine, "/etc/passwd", "/dev/zero", os.path.join(run.folder, "set"), "mine.penstock"):
        with open(part, "wb") as file:
            file.write(forge.header() + b"".join(forge.table()) + forge.section(
                forge.FACTS, forge.text("record.ring") + forge.text(ring), 1))
        done = support.run([support.program("penstock-recover"), part[:-5]], cwd=run.folder)
        if done.status == 0:
            raise Failure("recovered from %s" % ring)
        with open(mine, "rb") as file:
            if file.read() != before:
                raise Failure("changed %s" % ring)
    os.unlink(part)


def hostile_imports(run):
    """other tools' files: gzip bombs, deep nesting, numbers without end, cut here and there"""
    worst = (0, "")
    folder = os.path.join(run.folder, "imports")
    os.mkdir(folder)
    path = os.path.join(folder, "in.json")
    event = '{"ph":"X","cat":"c","name":"n","pid":1,"tid":1,"ts":%d,"dur":1},'
    sound = '{"traceEvents":[' + "".join(event % i for i in range(200))[:-1] + "]}"
    size = run.scaled(40, 3000)
    files = [
        ("a bomb of blanks", packed([b'{"traceEvents":[', *[b" " * MEGABYTE] * size])),
        ("a bomb of events", packed([b'{"traceEvents":[', *[(event % 5 * 10_000).encode()] * (size // 5)])),
        ("deep nesting", b'{"traceEvents":' + b"[" * 2_000_000),
        ("deep arguments", ('{"traceEvents":[{"ph":"X","name":"n","ts":1,"dur":1,"args":' + '{"a":' * 500_000).encode()),
        ("numbers", ('{"traceEvents":[{"ph":"X","name":"n","pid":1e400,"tid":-1e300,"ts":1e308,"dur":1e308},'
                     '{"ph":"X","name":"n","ts":-9223372036854775808,"dur":9223372036854775807}]}').encode()),
        ("threads", ('{"traceEvents":[' + ",".join(
            '{"ph":"X","name":"n%d","pid":%d,"tid":%d,"ts":%d,"dur":1}' % (i, i, i, i)
            for i in range(run.scaled(5000, 200_000))) + "]}").encode()),
        ("perfetto of nothing", b"\x0a\x02\x08\x00" * 1_000_000),
        ("perfetto of lengths", b"\x0a\xff\xff\xff\x7f" + bytes(100)),
        ("sqlite of nothing", b"SQLite format 3\x00" + bytes(4096)),
    ] + [("cut at %d" % at, sound[:at].encode())
         for at in range(0, len(sound), len(sound) // run.scaled(4, 16))]  # fmt: skip
    for name, contents in files:
        with open(path, "wb") as file:
            file.write(contents)
        status, memory, _, err = measured(
            [support.program("penstock-import"), path, "-o", os.path.join(folder, "out")], folder)
        if status not in (0, 4) or len(err.strip().splitlines()) > 2:
            raise Failure("%s: ended with %d and %r" % (name, status, err[-300:]))
        bound = FREE + PER_BYTE * len(contents)
        if memory > DERIVED * bound:
            raise Failure("%s: took %d MB of a file of %d kB" % (name, memory >> 20, len(contents) >> 10))
        worst = max(worst, (memory, name))
        left = sorted(os.listdir(folder))
        if any(entry not in ("in.json", "out", "stdout", "stderr") for entry in left):
            raise Failure("%s: wrote %s" % (name, left))
    run.notes.append("%d files; most memory %d MB (%s)" % (len(files), worst[0] >> 20, worst[1]))


SCENARIOS = (hostile_traces, hostile_recovery, hostile_imports)
