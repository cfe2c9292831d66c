# SPDX-License-Identifier: Apache-2.0
"""The defaults of fault_cell.py's knobs, in a file of their own so that faults.py needs no PyTorch."""
DEFAULTS = {
    "pictures": "", "workers": 2, "prefetch": 2, "batch": 8, "batches": 96, "epochs": 1, "persistent": False,
    "seed": 1, "cores": 0,  # number of cores that the run may use; 0: all
    "step_ms": 0.0, "copy_mb": 0.0,  # in each step the loop sleeps for step_ms, and copies copy_mb of its own memory
    "read": "storage",  # "storage": by fault_storage.py at `port`; "file": from disk; "memory": nothing is read
    "port": 0, "read_ms": 0.0, "spread": "constant",  # time until the storage answers, see waits()
    "bandwidth_mb": 0.0,  # MB/s of the storage for all readers together; 0: no limit
    "lock": False,  # only one process reads at a time
    "cold": False,  # the first epoch finds no page of a file in memory
    "decode": "pil",  # "done": the pictures are decoded already
    "augment": "crop",  # also "blur", "float", "threads"; "done": the samples are finished already
    "floats": False,  # with "augment": "done": the sample is float32, as "float" and "threads" make it
    "size": 160, "blur": 9, "threads": 1,
    "collate_ms": 0.0,  # additional CPU time of collate
    "extra_mb": 0.0,  # MB of NumPy arrays that are sent with each batch
    "init_ms": 0.0,  # how long a worker's start takes
    "warm": False,  # runs an epoch first, which is not timed
    "slow_worker_ms": 0.0,  # how much longer worker 0 takes for each sample
}  # fmt: skip
