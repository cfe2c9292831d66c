# SPDX-License-Identifier: Apache-2.0
"""The knobs of fault_cell.py where nothing is turned: apart, so that faults.py needs no PyTorch to know them."""
DEFAULTS = {
    "pictures": "", "workers": 2, "prefetch": 2, "batch": 8, "batches": 96, "epochs": 1, "persistent": False,
    "seed": 1, "cores": 0,  # cores that the run may use; 0: all
    "step_ms": 0.0, "copy_mb": 0.0,  # the consumer sleeps; it copies so much of its own memory
    "read": "storage",  # of fault_storage.py at `port`; "file": of the disk; "memory": nothing is read
    "port": 0, "read_ms": 0.0, "spread": "constant",  # until the storage answers, see waits()
    "bandwidth_mb": 0.0,  # of all readers together
    "lock": False,  # only one process reads at a time
    "cold": False,  # the first epoch finds no page of a file in memory
    "decode": "pil",  # "done": the picture is there already
    "augment": "crop",  # "blur", "float", "threads", and "done": the sample is there already
    "floats": False,  # such a sample is of floating point, as "float" and "threads" make it
    "size": 160, "blur": 9, "threads": 1,
    "collate_ms": 0.0,  # so much CPU time in addition
    "extra_mb": 0.0,  # NumPy arrays that travel with each batch
    "init_ms": 0.0,  # a worker's start
    "warm": False,  # an epoch before, which is not timed
    "slow_worker_ms": 0.0,  # what worker 0 takes longer for each sample
}  # fmt: skip
