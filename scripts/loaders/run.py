# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of cases.py under `penstock record` and compares their traces with what they
print.

  run.py --bin DIR --out DIR --pictures DIR [--python KIND=PROGRAM]... [--only NAME]... [--table README]

A case whose packages are missing is reported as not tested. Exit status: 0 every cell is as in
cases.py, 1 one is not, 2 usage.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

import cases
import measure

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT = 300
OPENCV = "the OpenCV that Penstock is built with"


def environment():
    """Our environment without the variables of Penstock and Python. Libraries use one thread and no network."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PENSTOCK", "PYTHON"))}
    kept.pop("LD_PRELOAD", None)
    kept.update(OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1", HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1",
                HF_HUB_DISABLE_TELEMETRY="1", TF_CPP_MIN_LOG_LEVEL="3", TF_ENABLE_ONEDNN_OPTS="0",
                CUDA_VISIBLE_DEVICES="", WDS_VERBOSE_CACHE="0")
    return kept


def call(command):
    """Runs `command` in a session of its own. After TIMEOUT seconds, kills its process group and raises TimeoutExpired.

    The output goes to files, since processes that outlive the command would keep pipes open.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, env=environment(), stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                   start_new_session=True)
        try:
            process.wait(TIMEOUT)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
    return subprocess.CompletedProcess(command, process.returncode, *texts)


def versions(python, packages):
    """Returns the packages' versions under this Python, as "torch 2.5, accelerate 1.0"; None if one is missing."""
    code = """
import importlib, importlib.metadata, sys
for name in sys.argv[1:]:
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:  # a distribution's package may not say
        version = importlib.import_module(name.replace("-", "_")).__version__
    print(name, version.partition("+")[0])
"""
    done = call([python, "-c", code, *packages])
    return ", ".join(done.stdout.splitlines()) if done.returncode == 0 else None


class Runner:
    def __init__(self, penstock, out, pictures, pythons):
        self.penstock = penstock
        self.out = pathlib.Path(out)
        self.pictures = str(pathlib.Path(pictures).resolve())
        self.pythons = pythons

    def program(self, case, python):
        work = self.out / "work" / case.name
        if case.python == "native":
            return [python, self.pictures, str(work)], work
        return [python, str(HERE / case.file), case.program, self.pictures, str(work)], work

    def run(self, case):
        """Records a case. Returns {"cells": ..., "wrong": [...]}, or {"missing": why} if it cannot run."""
        try:
            return self.measured(case)
        except subprocess.TimeoutExpired as late:
            return {"wrong": [f"still running after {late.timeout} s: {shlex.join(map(str, late.cmd))}"]}

    def measured(self, case):
        python = self.pythons.get(case.python)
        if python is None:
            return {"missing": f"no Python of the kind {case.python}"}
        found = OPENCV if case.python == "native" else versions(python, case.packages)
        if found is None:
            return {"missing": "not installed: " + ", ".join(case.packages)}
        command, work = self.program(case, python)
        shutil.rmtree(work, ignore_errors=True)
        prepared = call([*command, "--prepare"]) if case.python != "native" else None
        if prepared and prepared.returncode != 0:
            return {"wrong": ["prepare: " + prepared.stderr[-2000:]], "versions": found}
        trace = self.out / (case.name + ".penstock")
        trace.unlink(missing_ok=True)
        done = call([self.penstock, "record", "--quiet", "-o", str(trace), "--", *command])
        if done.returncode != 0:
            return {"wrong": [f"status {done.returncode}: {done.stderr[-2000:]}"], "versions": found}
        said = json.loads(done.stdout.splitlines()[-1])
        recording = measure.Recording(self.penstock, trace)
        folders = (self.pictures + "/", str(work.resolve()) + "/")
        cells = measure.measure(recording, said, folders, case.decoder, case.transform, case.ahead)
        wrong = [f"{name}: {cells[name]}, want {case.cells[name]}" for name in measure.CELLS
                 if cells[name] != case.cells[name]]
        wrong += self.judge(case, trace, said)
        if recording.dropped:
            wrong.append(f"{recording.dropped} records dropped")
        if wrong:
            wrong.append(measure.describe(recording))
        return {"cells": cells, "wrong": wrong, "versions": found, "said": said}

    def judge(self, case, trace, said):
        """Returns what is wrong with the report. Its verdict must be as expected. Its batch size must be right if the
        case expects the loop to be recorded."""
        done = call([self.penstock, "report", str(trace), "--json"])
        if done.returncode != 0:
            return [f"report: status {done.returncode}: {done.stderr[-500:]}"]
        report = json.loads(done.stdout)
        summary = report["verdict"]["summary"]
        if not re.search(case.verdict, summary):
            return [f"report says: {summary}"]
        size = report["loader"].get("batch_size")
        if case.cells["loop"] == "yes" and case.sized and size != said["samples"] // said["batches"]:
            return [f"report says batches of {size}"]
        return []


def table(results):
    """Returns the lines of the table: one for each row of cases.py, in the same order."""
    lines = ["| loader | tested with | " + " | ".join(measure.CELLS) + " | |", "|---" * (3 + len(measure.CELLS)) + "|"]
    for row in cases.ROWS:
        ran = [results[case.name] for case in cases.CASES if case.row == row.name and "cells" in results.get(case.name, {})]
        if not ran:
            lines.append(f"| {row.name} | not tested |" + " |" * len(measure.CELLS) + f" {row.note} |")
            continue
        cells = []
        for cell in measure.CELLS:
            found = {result["cells"][cell] for result in ran}
            found = found - {"-"} or found  # programs that do nothing of the kind do not count
            cells.append(found.pop() if len(found) == 1 else "part")
        tested = "; ".join(dict.fromkeys(result["versions"] for result in ran))
        lines.append(f"| {row.name} | {tested} | " + " | ".join(cells) + f" | {row.note} |")
    return lines


def write_table(path, lines, name="loaders"):
    """Replaces the lines of a page between the comments <!-- name --> and <!-- /name -->."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        sys.exit(f"run: {path} has no place for the table ({begin.strip()} ... {end})")
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    pathlib.Path(path).write_text(before + begin + "\n".join(lines) + "\n" + end + after, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--pictures", required=True)
    parser.add_argument("--python", action="append", default=[])
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--table")
    options = parser.parse_args()
    pythons = dict(pair.split("=", 1) for pair in options.python)
    runner = Runner(os.path.join(options.bin, "penstock"), options.out, options.pictures, pythons)
    kept = runner.out / "results.json"
    results = json.loads(kept.read_text()) if kept.exists() else {}
    failed = 0
    for case in cases.CASES:
        if options.only and case.name not in options.only:
            continue
        result = runner.run(case)
        results[case.name] = result
        kept.write_text(json.dumps(results, indent=1))
        failed += bool(result.get("wrong"))
        said = result.get("missing") or " ".join(f"{name} {cell}" for name, cell in result.get("cells", {}).items())
        print(f"{case.name:<28} {said}", flush=True)
        for line in result.get("wrong", ()):
            print(f"    WRONG {line}", flush=True)
    if options.table:
        write_table(options.table, table(results))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
