# SPDX-License-Identifier: Apache-2.0
"""Records public training programs once, and compares Penstock's predictions of changes with runs of the changed
programs.

  run.py --bin DIR --data DIR --out DIR [--python KIND=PROGRAM]... [--only NAME]... [--fresh] [--seconds S]
         [--repeats N] [--again] [--record]

--again asks Penstock about the stored traces anew and measures nothing; --record records again. Results are kept in
OUT/results.json, where the next call goes on. Exit status: 0 all measured, 1 a program failed, 2 usage.
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

import cases
import judge

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT = 240


def environment():
    """Our environment, with variables that keep programs from using the network, and with one thread for the step.
    With a thread for each core, the step's barriers would wait for other programs, and rates would not repeat."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PENSTOCK", "PYTHON", "OMP_"))}
    kept.pop("LD_PRELOAD", None)
    kept.update(OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1", HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1",
                NO_ALBUMENTATIONS_UPDATE="1", TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", WDS_VERBOSE_CACHE="0",
                YOLO_OFFLINE="true", YOLO_AUTOINSTALL="false")  # fmt: skip
    return kept


class Failed(Exception):
    """A program failed; the text says which and why."""


def call(command, limit=TIMEOUT):
    """Runs `command` in a session of its own and returns its output. Ends all of the session if it takes too long."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, env=environment(), stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                   start_new_session=True)  # fmt: skip
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired as late:
            raise Failed(f"still running after {limit} s: {' '.join(map(str, command))}") from late
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)  # ends processes that the program left running
            except ProcessLookupError:
                pass
            process.wait()
        out.seek(0)
        err.seek(0)
        text = out.read().decode("utf-8", "replace")
        if process.returncode != 0:
            said = err.read().decode("utf-8", "replace")[-1500:]
            raise Failed(f"status {process.returncode}: {' '.join(map(str, command))}\n{said}\n{text[-500:]}")
        return text


class Runner:
    def __init__(self, options):
        self.options = options
        self.out = pathlib.Path(options.out).resolve()
        self.data = str(pathlib.Path(options.data).resolve())
        self.penstock = os.path.join(options.bin, "penstock")
        self.pythons = dict(pair.split("=", 1) for pair in options.python)

    def command(self, case, *more):
        return [self.pythons[case.python], str(HERE / case.file), case.name, "--data", self.data,
                "--work", str(self.out / "work" / case.name), *more]  # fmt: skip

    def run(self, case, workers, free=(), before=()):
        """Runs the program and returns its own figures."""
        told = self.out / (case.name + ".run.json")
        told.unlink(missing_ok=True)
        call([*before, *self.command(case, "--workers", str(workers), "--free", ",".join(free), "--seconds",
                                     str(self.options.seconds), "--out", str(told))])  # fmt: skip
        return json.loads(told.read_text(encoding="ascii"))

    def trace(self, case):
        return self.out / (case.name + ".penstock")

    def ask(self, case):
        """Report and predictions of the recorded run: {"report": ..., "workers": {...}, "free": {...}}."""
        trace = str(self.trace(case))
        found = {"report": json.loads(call([self.penstock, "report", trace, "--json"])), "workers": {}, "free": {}}

        def whatif(*arguments):
            try:
                return json.loads(call([self.penstock, "whatif", trace, "--json", *arguments]))["configurations"]
            except Failed as refused:
                return str(refused).split("\n")[1] if "status 4" in str(refused) else f"FAILED {refused}"

        for count in case.counts:
            said = whatif("--workers", str(count))
            found["workers"][str(count)] = said if isinstance(said, str) else said[0]
        for what in case.free:
            said = whatif("--without", "compute" if what == "step" else what)
            found["free"][what] = said if isinstance(said, str) else said[0]
        return found

    def measure(self, case, kept):
        """Makes the runs that kept["said"] and kept["rates"] lack; yields after each run."""
        call(self.command(case, "--prepare"))
        if self.options.record or "said" not in kept or not self.trace(case).exists():
            self.trace(case).unlink(missing_ok=True)
            kept["said"] = self.run(case, case.workers, before=(self.penstock, "record", "--quiet", "-o",
                                                                str(self.trace(case)), "--"))  # fmt: skip
        rates = kept.setdefault("rates", {})
        for _ in range(self.options.repeats):
            for key, workers, free in judge.arms(case):
                runs = rates.setdefault(key, [])
                if len(runs) < self.options.repeats:
                    runs.append(self.run(case, workers, free))
                    yield


def versions(python, packages):
    code = """
import importlib.metadata, sys
for name in sys.argv[1:]:
    print(name, importlib.metadata.version(name).partition("+")[0])
"""
    return ", ".join(call([python, "-c", code, *packages]).splitlines())


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--python", action="append", default=[])
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    chosen = [case for case in cases.CASES if not options.only or case.name in options.only]
    unknown = set(options.only) - {case.name for case in cases.CASES}
    if unknown:
        parser.error("no program of the name " + ", ".join(sorted(unknown)))
    runner = Runner(options)
    runner.out.mkdir(parents=True, exist_ok=True)
    path = runner.out / "results.json"
    results = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    failed = 0

    def keep():
        beside = path.with_suffix(".new")
        beside.write_text(json.dumps(results, indent=1), encoding="utf-8")
        beside.replace(path)

    for case in chosen:
        kept = results.setdefault(case.name, {})
        if options.fresh:
            kept.clear()
            shutil.rmtree(runner.out / "work" / case.name, ignore_errors=True)
        kept.pop("failed", None)
        try:
            if not options.again:
                if case.python not in runner.pythons:
                    raise Failed(f"no Python of the kind {case.python}")
                kept["versions"] = versions(runner.pythons[case.python], case.packages)
                for _ in runner.measure(case, kept):
                    keep()
            if "said" in kept:
                kept.update(runner.ask(case))
        except Failed as error:
            kept["failed"] = str(error)
            failed += 1
        keep()
        for line in judge.lines(case, kept):
            print(line, flush=True)
    print("\n".join(judge.table([(case, results.get(case.name, {})) for case in cases.CASES])))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
