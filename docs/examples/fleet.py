# SPDX-License-Identifier: Apache-2.0
"""Which of many runs wait for data, and for what: fleet.py "runs/*.penstock" FOLDER. Needs pyarrow."""
import sys

import penstock
import pyarrow.dataset

pattern, folder = sys.argv[1:]
unreadable = []
rows = penstock.open_many(pattern).to_parquet(folder, on_error=lambda path, error: unreadable.append(path))
print("rows: %s; unreadable: %d" % (rows, len(unreadable)))

runs = pyarrow.dataset.dataset(folder + "/runs", partitioning="hive").to_table()
lost = {}
for run in runs.to_pylist():
    count, seconds = lost.get(run["verdict"], (0, 0.0))
    lost[run["verdict"]] = (count + 1, seconds + (run["wait_fraction"] or 0.0) * run["seconds"])
for verdict, (count, seconds) in sorted(lost.items(), key=lambda one: -one[1][1]):
    print("%-12s %4d runs, %8.0f s of waiting" % (verdict, count, seconds))
