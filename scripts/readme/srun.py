# SPDX-License-Identifier: Apache-2.0
"""Stands in for Slurm's srun on a machine without Slurm. Starts two tasks (one with --ntasks-per-node 1) with the
variables that srun sets. Its exit status is the highest one of its tasks."""
import os
import socket
import subprocess
import sys


def main():
    words, tasks = sys.argv[1:], 2
    if words[:2] == ["--ntasks-per-node", "1"]:
        words, tasks = words[2:], 1
    if not words or words[0].startswith("-"):
        print(f"srun: not understood by this stand-in: {words}", file=sys.stderr)
        return 2
    children = []
    for rank in range(tasks):
        slurm = {"SLURM_PROCID": rank, "SLURM_LOCALID": rank, "SLURM_NTASKS": tasks, "SLURM_NODEID": 0,
                 "SLURM_JOB_ID": 1, "SLURM_STEP_ID": 0, "SLURMD_NODENAME": socket.gethostname()}  # fmt: skip
        environment = dict(os.environ, **{name: str(value) for name, value in slurm.items()})
        children.append(subprocess.Popen(words, env=environment))
    return max(status if status >= 0 else 128 - status for status in [child.wait() for child in children])


if __name__ == "__main__":
    sys.exit(main())
