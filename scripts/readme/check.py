# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of README.md in their order, as a reader would, in a folder of their own.

  check.py --bin DIR [--lib DIR] [--only TEXT] [--keep DIR]

DIR holds the programs (and libpenstock_agent.so, unless --lib names its folder). Some things are replaced: Slurm by
a stand-in (srun.py), 8 and 16 processes by two, long sweeps by short ones (SHORTER). Commands that build or install
(BUILDS) do not run here; scripts/check_readme.sh without --quick runs them. Here their files must exist, and the
wheel must have the right name. The check fails if a command fails, if an option is unknown, or if a block of output
names a line that the last command did not print. Exit status: 0 everything works, 1 something does not, 2 usage.
"""
import argparse
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
HERE = os.path.join(ROOT, "scripts", "readme")
PYTHON = "/usr/bin/python3"
SECONDS = 240  # limit for each command

# The first words of commands that compile or install.
BUILDS = ("pip install", "scripts/demo.sh", "scripts/test.sh")
# (text in README.md, text to run instead): makes commands run on less data or with fewer processes.
SHORTER = (
    ("--nproc_per_node 8 ", "--nproc_per_node 2 {torchrun}"),
    ("mpirun -n 16", "mpirun -n 2"),
    ("torchrun ... ", "torchrun --nproc_per_node 2 {torchrun}"),
    ("/abs/path/", "{lib}/"),
    ("/scratch/", "{work}/scratch/"),
    ("--kind imagenet", "--kind imagenet --count 48"),
    ("synthetic:100000", "synthetic:256"),
    ("penstock sweep sets/imagenet", "penstock sweep sets/imagenet --repeats 1 --set batches=4"),
    ("penstock sweep --ablate sets/imagenet", "penstock sweep --ablate sets/imagenet --repeats 1 --set batches=4"),
    ("penstock sweep --workers 0,2,4", "penstock sweep --workers 0,2 --repeats 1"),
    ("--prefetch 2,4 -- python", "--prefetch 2 -- python"),
    ("penstock tune --", "penstock tune --trials 1 --pairs 3 --"),
    ("--loader train.py:88", "--loader train.py:63"),
)
# Files that README.md takes for granted, and for each file the command that makes it here. The command runs before the
# first command of README.md that names the file.
GIVEN = {
    "before.penstock": "penstock record --quiet -o before.penstock -- python train.py",
    "after.penstock": "penstock record --quiet -o after.penstock --override workers=2 -- python train.py",
    "ceiling.penstock": "penstock record --quiet -o ceiling.penstock --fixed-batch -- python train.py",
    "sweep.json": "penstock sweep --workers 0,1 --prefetch 2 --repeats 1 --json sweep.json -- python train.py",
    "costs.txt": r"printf 'device H\ndecode 0.2 given\naugment 0.02 given\nconvert 0.004 given\n' >costs.txt",
}
# Options of other programs that README.md names.
OTHERS = {"--shm-size", "--prefix", "--build", "--install", "--preset", "--target", "--torch", "--table", "--only",
          "--codecs", "--help", "--token", "--password", "--api-key", "--machine", "--user"}  # fmt: skip
# Without -r 1 and -t 1, PyTorch 1.13 starts no ranks under Python 3.11. Without --monitor_interval it looks only every
# five seconds whether its ranks have ended.
TORCHRUN = "--monitor_interval 0.1 --master_addr 127.0.0.1 -r 1 -t 1 --log_dir {work}/ranks "


class Block:
    def __init__(self, line):
        self.line, self.lines = line, []


def blocks(text):
    """Returns the fenced blocks of a Markdown text, in order."""
    found, block = [], None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            block = None if block else Block(number + 1)
            if block:
                found.append(block)
        elif block:
            block.lines.append(line)
    return found


def commands(block):
    """Returns (line, command) for each command of a block, without comments. Joins lines that end with \\."""
    found, begun, first = [], "", 0
    for number, line in enumerate(block.lines, block.line):
        line = re.sub(r"\s+#\s.*$", "", line)
        first = first if begun else number
        begun += line
        if begun.endswith("\\"):
            begun = begun[:-1]
        else:
            if begun.strip():
                found.append((first, re.sub(r"\s+", " ", begun.strip())))
            begun = ""
    return found


def inline_options(text):
    """Returns the long options that the prose of the page names in `code`."""
    outside = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    return {option for code in re.findall(r"`([^`]+)`", outside) for option in re.findall(r"(?<!\S)--[a-z][a-z0-9_-]+", code)}


class Readme:
    def __init__(self, bin_folder, lib, work):
        self.bin, self.lib, self.work = bin_folder, lib, work
        self.failures, self.count, self.printed = [], 0, ""
        tools = os.path.join(work, ".bin")
        os.makedirs(os.path.join(work, "scratch"))
        os.makedirs(tools)
        os.symlink(PYTHON, os.path.join(tools, "python"))
        for name, words in (("torchrun", f'exec {PYTHON} {HERE}/torchrun.py "$@"'),
                            ("srun", f'exec {PYTHON} {HERE}/srun.py "$@"')):  # fmt: skip
            path = os.path.join(tools, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\n{words}\n")
            os.chmod(path, 0o755)
        shutil.copy(os.path.join(HERE, "train.py"), work)
        self.environment = {
            "PATH": f"{tools}:{bin_folder}:/usr/bin:/bin", "HOME": work, "TMPDIR": work, "LC_ALL": "C.UTF-8",
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMP_NUM_THREADS": "1",
            "USE_LIBUV": "0",  # as in torchrun.py
        }  # fmt: skip

    def fail(self, line, what):
        self.failures.append(f"README.md:{line}: {what}")
        print(f"FAIL README.md:{line}: {what}", flush=True)

    def fill(self, command):
        return command.replace("{torchrun}", TORCHRUN).replace("{work}", self.work).replace("{lib}", self.lib)

    def shell(self, command):
        """Runs a command and returns (status, output). The status is 124 if the command ran longer than SECONDS."""
        child = subprocess.Popen(["/bin/bash", "-c", command], cwd=self.work, env=self.environment, text=True,
                                 errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, start_new_session=True)  # fmt: skip
        try:
            output, _ = child.communicate(timeout=SECONDS)
            return child.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            return 124, child.communicate()[0]

    def window(self, command):
        """Runs a command that opens a window. Waits for the window, ends the program, and returns (status, output)."""
        look = (f"{command} & pid=$!; for i in $(seq 100); do sleep 0.2; "
                "xwininfo -root -tree | grep -q Penstock && break; done; "
                "xwininfo -root -tree | grep -q Penstock; found=$?; kill $pid; wait $pid; exit $found")  # fmt: skip
        return self.shell(f"xvfb-run -a /bin/bash -c {shlex.quote(look)}")

    def run(self, line, command):
        if command.startswith(BUILDS):
            words = command.split()
            if words[0] == "pip":
                self.wheel(line, words[2])
            elif not os.access(os.path.join(ROOT, words[0]), os.X_OK):
                self.fail(line, f"{words[0]} is not there, or no program")
            return
        for name, how in GIVEN.items():
            if name in command and f"--json {name}" not in command and not os.path.exists(os.path.join(self.work, name)):
                status, output = self.shell(self.fill(how))
                if status != 0:
                    self.fail(line, f"what it needs, {how}: exit status {status}\n{output}")
        short = command
        for long, instead in SHORTER:
            short = short.replace(long, instead)
        short = self.fill(short)
        began = time.monotonic()
        is_window = command.startswith("penstock gui") and "--screenshot" not in command
        status, output = self.window(short) if is_window else self.shell(short)
        self.count, self.printed = self.count + 1, output
        print(f"{time.monotonic() - began:6.1f} s  {command}", flush=True)
        if status != 0:
            self.fail(line, f"{short}: exit status {status}\n{output}")
        for picture in re.findall(r"--screenshot (\S+)", command):
            if status == 0 and os.path.getsize(os.path.join(self.work, picture)) < 10_000:
                self.fail(line, f"{picture} is no picture of a window")

    def wheel(self, line, name):
        """Checks that `name` is the name that scripts/build_wheel.sh gives the wheel today."""
        with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
            version = re.search(r"^project\(\w+\s+VERSION\s+([\d.]+)", file.read(), re.MULTILINE).group(1)
        with open(os.path.join(ROOT, "scripts", "build_wheel.sh"), encoding="utf-8") as file:
            glibc = re.search(r"^readonly kGlibc=([\d.]+)$", file.read(), re.MULTILINE).group(1)
        expected = f"penstock_profiler-{version}-py3-none-manylinux_{glibc.replace('.', '_')}_x86_64.whl"
        if name != expected:
            self.fail(line, f"the wheel is {expected}")

    def output(self, block):
        """Checks that for each line of the block the last command printed a line with the same first word."""
        for number, line in enumerate(block.lines, block.line):
            key = re.match(r"  (\w+) {2,}", line)
            if not key or not re.search(rf"^  {key.group(1)} {{2,}}\S", self.printed, re.MULTILINE):
                self.fail(number, f"there is no such line in\n{self.printed}")

    def options(self, text):
        helps = []
        for command in ("", "record", "report", "validate", "export", "import", "whatif", "plan", "tune", "compare", "merge",
                        "recover", "share", "sweep", "gui", "load", "load pack", "load make-set", "doctor"):  # fmt: skip
            helps.append(self.shell(f"penstock {command} --help")[1])
        known = set(re.findall(r"--[a-z][a-z0-9_-]+", "\n".join(helps))) | OTHERS
        for option in sorted(inline_options(text) - known):
            self.fail(0, f"no program's --help has {option}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--lib")
    parser.add_argument("--only", default="", help="only blocks with a command that holds this text")
    parser.add_argument("--keep", help="work here, and leave what was made")
    arguments = parser.parse_args()
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        text = file.read()
    work = os.path.realpath(arguments.keep or tempfile.mkdtemp(prefix="penstock-readme-"))
    os.makedirs(work, exist_ok=True)
    try:
        readme = Readme(os.path.realpath(arguments.bin), os.path.realpath(arguments.lib or arguments.bin), work)
        for block in blocks(text):
            if not any(arguments.only in line for line in block.lines):
                continue
            if block.lines[0].startswith("  "):
                readme.output(block)
            elif not block.lines[0].startswith("find_package"):  # tests/packaging/install_test.py checks this block
                for line, command in commands(block):
                    readme.run(line, command)
        readme.options(text)
    finally:
        if not arguments.keep:
            shutil.rmtree(work, ignore_errors=True)
    if not arguments.only and readme.count < 30:
        readme.fail(0, f"only {readme.count} commands were found")
    print(f"{readme.count} commands, {len(readme.failures)} failures")
    return 1 if readme.failures else 0


if __name__ == "__main__":
    sys.exit(main())
