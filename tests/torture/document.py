# SPDX-License-Identifier: Apache-2.0
"""Writes tests/RELIABILITY.md: what was done to Penstock, on which machine, and with what result."""
import datetime
import json
import os
import platform

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PATH = os.path.join(ROOT, "tests", "RELIABILITY.md")

HEAD = """# Reliability

What Penstock is put through, and what came of it. Written by `scripts/torture.sh --full`; the short
form of the same runs with the tests (`ctest -R torture`). Do not edit.

{date}: {machine}. {counts}

For every scenario holds, or it has failed: the program ends and prints as it does without the agent,
alone (`LD_PRELOAD`) and under `penstock record`; the trace is sound for `penstock validate`; every
read that the program finished is in it, or is counted as lost; no process, no ring in shared memory
and no half-written file is left; the collector's memory stays within its bound.

| scenario | what is done | runs | processes | finished reads or spans | in the trace | counted as lost | collector's memory | trace on disk | slower by |
|---|---|---:|---:|---:|---:|---:|---:|---:|---:|
"""

# This part of the document is written by hand. It lists promises that other tests check.
PROMISES = """
## Promises

What is promised, by which test it is held, and what came of it last. A test of this table runs with
the others (`ctest -R NAME`) unless it says by hand.

| promise | test | runs | result |
|---|---|---|---|
| a second command of the same shell leaves the recording of the first; a file that is cut, removed or replaced, a FIFO, a link or a folder at its name stops nobody and is not written | `LinearTest`, `LostFileTest`, `alone.outputs` | 15 cases, 23 names for 3 programs | none differs |
| a finished or recoverable trace is kept; what is no trace is never replaced; a trace that is taken away meanwhile is written again | `OutputTest`, `LinearTest` | 19 and 5 | none is lost |
| every byte that a program's calls returned is in a span or counted, whatever ends it | `agent_conservation_test` | 6 ways of reading, 8 ends; 25 kills of 4 threads | 0 unexplained |
| a descriptor's number gives no name to its next owner | `NamelessTest` | 5 ways | 0 invented; after a close by a raw system call instruction only the next read of that number can be wrong |
| no record is taken twice, torn or lost uncounted, wherever a writer or the collector is killed | `agent_model_test` (exhaustive, release and acquire); `ContinueTest` (the collector's file and ring) | 16 cases, 38 wrong protocols; some 200 kills | holds; each wrong protocol is found |
| the agent's core under AddressSanitizer and ThreadSanitizer | `agent_core_driver_test`, `agent_core_test` | 11 and 55 | none is found; reads of descriptors not yet under ThreadSanitizer |
| a program behind a filter that kills, or with TSC or CPUID forbidden, ends as alone | `alone.sandbox` | 37 programs | none differs; what it reads from then on is not recorded, and the report says so |
| Pythons 2.7 to 3.15 print the same, also with -I, -E and -S | `alone.pythons`; 3.13 to 3.15 with glibc 2.43, and 3.13 without the GIL, by hand | 14 Pythons | none differs; the GIL stays off, and eight threads with Pillow are recorded whole |
| handlers on an alternate stack of 8 KB read files | `alone.stack` | 3 kinds of path | none differs; the agent takes at most 1,248 bytes |
| limits stay the program's (address space, data, locked memory, descriptors, files, stack, processes) | `alone.limits` | 9 tests | none differs |
| musl, 32-bit and static programs start without a word | `alone.exec` | 5 tests | none differs |
| another C library: glibc 2.31, 2.36, 2.41 | `tests/torture/other_glibc.py` (by hand) | 3 roots | same output, traces readable |
| another user reads 0 bytes, stops 0 programs, has 0 files overwritten | `torture.two_users` | 12 cases, both ways of recording | 0, 0, 0 |
| secrets of command lines are not recorded | `HideSecretsTest`, `WithoutSecretsTest` | 38 cases | none is |
| a day: 24 h, 144 threads, 14 million files, 10^9 spans | `traces_long_run` (by hand), `traces.long_run` | once | 10.68 bytes a span, 127 MB at most, 0.67 MB an hour, 0 of 285,714,284 names wrong or missing, sealed |
| every system call of agent and recorder may fail | `tests/torture/failpoints.py --full` (by hand) | all of a short run: 2,184 failures at 306 points of the agent alone; 5,355 at 737 of the recorder; 1,521 at 177 of recover (181 did not come by again) | none of the agent differs; 1 of the recorder and 3 of recover abort before `main` and change nothing: no memory at all (`brk`), and an answer that the kernel does not give to a futex (EINTR) |
| power is lost while the output is written | `tests/torture/powerloss.py` (by hand) | 825 and 336 states | the old trace or the new one in each |
| small programs made at random end, print and read as alone | `tests/torture/generate.py`, `torture.victims`, `torture.found` | see below | see below |

### Programs made at random

`tests/torture/generate.py` composes small programs of descriptors, threads, processes, signals,
alternate stacks, filters, limits, other C libraries and every kind of end. Each runs alone, under the
agent and under the recorder, one of four with copies of its files (`--stage`) and one with other settings
(`--override`). What is different is shrunk and kept (`tests/torture/found/`).

| what is compared | programs | different |
|---|---:|---:|
| output, status, signals, results of calls, files; bytes of programs that do nothing of the list below | 40,000 and 49,562 of two seeds, 1,500 of a third; 8,992 before | 1, mended since; 8 more are programs that also differ from run to run alone, 1 is started behind its own filter that kills |
| every byte, whatever the program does (`--every-byte`) | 1,354 | 264, most of them reads behind a filter |

A run of the tests makes 2,000 others. The agent does not follow a program that does one of these
(`UNCOUNTED` in `tests/torture/victim_differences.py`). It ends and prints as alone, but its bytes need not
add up:

- it reads after it has installed a filter or forbidden the time stamp counter (the report says so);
- it reads under a limit of address space, data, locked memory, descriptors or file size that leaves no room for
  the ring or the file, or after `setuid` before its first read;
- it opens, closes or replaces a descriptor by a raw system call instruction: names and bytes of that
  number may be another file's until the next call that the agent sees;
- a handler interrupts the agent and leaves by `longjmp`: the thread is not recorded from then on;
- it is started behind a filter of the program's own: it is not traced, and a filter that kills may end it (README,
  "What it sees, and what it does not").

While a thread writes out what it recorded, the output is open for a moment: what another thread opens
just then gets a higher number than it would alone.

A run that is killed leaves its segment of shared memory for `recover`, or for six hours.

"""

FOOT = """
*Collector's memory* is the largest anonymous memory seen at any moment, without the ring (64 MB of
shared memory, `--buffer`). *Slower by* compares wall times under `penstock record` and alone; these
victims do nothing but what is recorded, start processes by the thousand, and were run once, so it is
no measure of what a training run costs: `benchmarks/README.md` has that.

Losses that are counted are no failure: a recording has room for 512 processes at a time, under the
agent alone for 512 in all, and a read by a signal handler that interrupts the agent at work on the
same thread is dropped. `penstock report` shows them first.

## Bounds

| what | bound |
|---|---|
| collector | 64 MB ring (`--buffer`), up to 393,216 spans in memory (some 30 MB) before they are packed, 70 MB of dictionaries; processes, threads and files that are gone cost nothing |
| threads that record at a time | one chunk of 64 KiB each: 1,022 with the default ring; more are counted as lost, and a larger `--buffer` holds more |
| distinct paths | each has one id up to some 3 million; beyond that a path may have several |
| a run without a collector | 64 MB of shared memory, of which only what is touched counts; 512 processes in all |
| `--keep 60s` | the file: at most some three times the last 60 s, whatever the length of the run, and each distinct path once; memory as above |
| a full disk | the ring, and 64 MB of packed sections, wait until there is room; beyond that the agents count what they drop |
| reading a packed trace of F bytes | what it decodes to: 256 MiB + 256 F; what lies beyond is skipped and counted as damage |
| importing a file of F bytes | 64 MiB + 256 F of text when unpacked, at most 4 GiB |
"""


def machine():
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    model = ""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip() + ", "
                break
        else:
            model = ""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        virtual = "virtual machine, " if "hypervisor" in file.read() else ""
    user = "as root" if os.geteuid() == 0 else "not as root"
    return "%s%s%d cores, %.0f GB, Linux %s, %s" % (virtual, model, os.cpu_count(), memory,
                                                  platform.release().split("-")[0], user)  # fmt: skip


def size(count):
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return "%.1f %s" % (count / factor, unit)
    return "%d B" % count


def number(count):
    return "{:,}".format(count)


def slower(outcome):
    """Returns as text how much longer runs took under the collector than alone (median)."""
    ratios = sorted(f.traced / f.alone for f in outcome.figures if f.mode == "record" and f.alone > 0.2)
    if not ratios:
        return ""
    return "%+.0f %%" % ((ratios[len(ratios) // 2] - 1) * 100)


def kept_in(name=""):
    """Returns the path of the file with the figures of the scenario `name` from its last full run. Without a name,
    returns the folder of these files."""
    folder = os.path.join(ROOT, "build", "test", "torture")
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, name + ".json") if name else folder


def keep(outcome, options):
    """Stores the figures of a scenario in a file, so that the document can be written from scenarios run one by one."""
    notes = outcome.notes + [note for figures in outcome.figures for note in figures.notes]
    known = {"name": outcome.name, "what": outcome.what, "state": outcome.state, "why": outcome.why,
             "notes": notes, "totals": totals(outcome), "slower": slower(outcome),
             "date": datetime.date.today().isoformat(), "machine": machine(), "note": options.note,
             "fuzz_seconds": options.fuzz_seconds}  # fmt: skip
    with open(kept_in(outcome.name), "w", encoding="utf-8") as file:
        json.dump(known, file)


def totals(outcome):
    figures = outcome.figures
    return {
        "runs": len(figures),
        "processes": max((f.processes for f in figures), default=0),
        "expected": sum(f.expected for f in figures),
        "spans": sum(f.spans for f in figures),
        "lost": sum(f.lost for f in figures),
        "memory": max((f.memory for f in figures), default=0),
        "file": max((f.file_bytes for f in figures), default=0),
    }


def shown(outcome):
    """Returns the figures as one line for the terminal."""
    t = totals(outcome)
    if not t["runs"]:
        return ""
    text = "%d runs, %s processes, %s finished, %s in the trace, %s lost" % (
        t["runs"], number(t["processes"]), number(t["expected"]), number(t["spans"]), number(t["lost"]))
    if t["memory"]:
        text += ", collector %s" % size(t["memory"])
    return "%s, trace %s%s" % (text, size(t["file"]), ", " + slower(outcome) if slower(outcome) else "")


def row(known):
    what = known["what"]
    if known["notes"]:
        what += " (" + "; ".join(known["notes"]) + ")"
    if known["state"] == "skipped":
        return "| %s | %s: **skipped**, %s | | | | | | | | |\n" % (known["name"], what, known["why"])
    if known["state"] == "failed":
        what += ": **failed**, " + known["why"].replace("|", "/").replace("\n", " ")
    t = known["totals"]
    if not t["runs"]:
        return "| %s | %s | | | | | | | | |\n" % (known["name"], what)
    return "| %s | %s | %d | %s | %s | %s | %s | %s | %s | %s |\n" % (
        known["name"], what, t["runs"], number(t["processes"]), number(t["expected"]), number(t["spans"]),
        number(t["lost"]), size(t["memory"]) if t["memory"] else "", size(t["file"]), known["slower"])


def write(names):
    """Writes the document. It has those of the scenarios `names` that were run in full."""
    rows = []
    for name in names:
        try:
            with open(kept_in(name), encoding="utf-8") as file:
                rows.append(json.load(file))
        except FileNotFoundError:
            pass
    counts = {state: sum(r["state"] == state for r in rows) for state in ("passed", "skipped", "failed")}
    text = "%(passed)d scenarios passed, %(skipped)d were skipped, %(failed)d failed." % counts
    fuzzed = sorted({r["fuzz_seconds"] for r in rows if r["name"].startswith("fuzz-")})
    if fuzzed:
        text += " Each fuzz target ran for %s s." % " or ".join(map(str, fuzzed))
    notes = sorted({r["note"] for r in rows if r["note"]})
    text = " ".join([text, *notes])
    head = HEAD.format(date=max(r["date"] for r in rows), counts=text,
                       machine=", or ".join(sorted({r["machine"] for r in rows})))  # fmt: skip
    temporary = PATH + ".new"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(head + "".join(map(row, rows)) + FOOT + PROMISES)
    os.replace(temporary, PATH)
    return os.path.relpath(PATH)
