# SPDX-License-Identifier: Apache-2.0
"""What a trace says, from Python: ask_trace.py RUN.penstock"""
import sys

import numpy as np
import penstock

trace = penstock.open(sys.argv[1])
report = trace.report()
print("verdict: %s, waiting %.0f %% of the time" % (
    report["verdict"]["bottleneck"], 100 * report["verdict"]["wait_fraction"]))

# The slowest decodes, with their files.
decode = trace.spans(stage="decode")
slowest = np.argsort(decode["duration_ns"])[::-1][:3]
for i in slowest:
    print("%6.2f ms  %s" % (decode["duration_ns"][i] / 1e6, decode["object"][i]))

# How long the loop waited for its batches.
batches = trace.batches()
waits = batches["wait_ns"][batches["wait_ns"] >= 0] / 1e6
if len(waits):
    print("waits: median %.2f ms, 95th percentile %.2f ms" % tuple(np.percentile(waits, (50, 95))))

# What other numbers of workers would give.
try:
    for one in trace.whatif(workers=[1, 2, 4]):
        print("%d workers: %.0f samples/s (%.0f to %.0f)" % (
            one["num_workers"], one["samples_per_s"], one["low"], one["high"]))
except penstock.TraceError as error:  # the run is too short, or its simulation is too far from the measurement
    print("no prediction:", error)
