# SPDX-License-Identifier: Apache-2.0
"""tests/RELIABILITY.md: what was done to Penstock, on what machine, and what came of it."""
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

FOOT = """
*Collector's memory* is the largest anonymous memory seen at any moment, without the ring (64 MB of
shared memory, `--buffer`). *Slower by* compares wall times under `penstock record` and alone; these
victims do nothing but what is recorded, start processes by the thousand, and were run once, so it is
no measure of what a training run costs: `benchmarks/README.md` has that.

Losses that are counted are no failure: a recording has room for 512 processes at a time, under the
agent alone for 512 in all, and a read by a signal handler that interrupts the agent at work on the
same thread is dropped. `penstock report` shows them first.

PROMISES## Bounds

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
    """Median of what the collector's runs cost, as text."""
    ratios = sorted(f.traced / f.alone for f in outcome.figures if f.mode == "record" and f.alone > 0.2)
    if not ratios:
        return ""
    return "%+.0f %%" % ((ratios[len(ratios) // 2] - 1) * 100)


def kept_in(name=""):
    """Where the figures of a scenario of the full form lie until the next one."""
    folder = os.path.join(ROOT, "build", "test", "torture")
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, name + ".json") if name else folder


def keep(outcome, options):
    """Notes down what the document says of a scenario: runs may be made one by one."""
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
    """The figures in a line, for the terminal."""
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
    """The document of the scenarios of these names that were run in full."""
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
        file.write(head + "".join(map(row, rows)) + FOOT)
    os.replace(temporary, PATH)
    return os.path.relpath(PATH)
