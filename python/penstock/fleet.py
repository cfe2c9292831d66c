# SPDX-License-Identifier: Apache-2.0
"""penstock.open_many(): many traces as one Parquet data set, for DuckDB, Dask, Spark, polars. docs/fleet.md has
examples."""
import glob
import json
import os
from typing import Any, Callable, Dict, Iterable, List, Optional, Union

from penstock.tables import _library
from penstock.trace import Trace, TraceError
from penstock.trace import open as open_trace

__all__ = ["Fleet", "open_many"]

_TABLES = ("runs", "batches", "spans", "events", "counters", "functions")

Paths = Union[str, "os.PathLike[str]", Iterable[Union[str, "os.PathLike[str]"]]]


class Fleet:
    """Traces by path, opened one at a time."""

    def __init__(self, paths: List[str]) -> None:
        self.paths = paths

    def __len__(self) -> int:
        return len(self.paths)

    def __iter__(self):
        """The traces, one after the other."""
        for path in self.paths:
            with open_trace(path) as trace:
                yield trace

    def to_parquet(
        self,
        folder: Union[str, "os.PathLike[str]"],
        tables: Iterable[str] = ("runs", "batches", "spans", "counters"),
        on_error: Optional[Callable[[str, Exception], None]] = None,
    ) -> Dict[str, int]:
        """Writes FOLDER/TABLE/run=RUN/rank=RANK/part-0.parquet for each trace. Returns each table's number of rows.

        RUN is the name of the trace's file without its ending, made unique by a number if two are equal. RANK is the
        rank of its processes, or 0 without ranks; a trace of several ranks gives one RANK for each. "runs" has one row
        for each rank: verdict, rate, share of waiting, path, and the report as JSON. "batches", "spans", "events",
        "counters" and "functions" are the tables of penstock.Trace. A trace that cannot be read raises, unless
        on_error(path, error) is given: then it is called, and the trace is left out. Raises ValueError for an unknown
        table, TraceError if pyarrow is missing.
        """
        tables = list(tables)
        for table in tables:
            if table not in _TABLES:
                raise ValueError("there is no table %r: there is %s" % (table, ", ".join(_TABLES)))
        arrow, parquet = _library("pyarrow"), _library("pyarrow.parquet")
        rows = dict.fromkeys(tables, 0)
        for path, run in zip(self.paths, _run_names(self.paths)):
            try:
                with open_trace(path) as trace:
                    parts = [
                        (table, rank, part)
                        for table in tables
                        for rank, part in (
                            _run_rows(arrow, trace).items() if table == "runs" else _by_rank(trace, table)
                        )
                    ]
            except TraceError as error:
                if on_error is None:
                    raise
                on_error(path, error)
                continue
            for table, rank, part in parts:
                place = os.path.join(os.fspath(folder), table, "run=%s" % _escaped(run), "rank=%d" % rank)
                os.makedirs(place, exist_ok=True)
                parquet.write_table(part, os.path.join(place, "part-0.parquet"))
                rows[table] += len(part)
        return rows


def open_many(paths: Paths) -> Fleet:
    """Opens traces by a pattern ("runs/*.penstock"; "**" goes into folders) or a sequence of paths. Raises TraceError
    if a pattern finds nothing."""
    if isinstance(paths, (str, os.PathLike)):
        pattern = os.fspath(paths)
        found = sorted(glob.glob(pattern, recursive=True))
        if not found:
            raise TraceError("%s: no file has such a name" % pattern)
        return Fleet(found)
    return Fleet([os.fspath(path) for path in paths])


def _run_names(paths: List[str]) -> List[str]:
    """The name of each path's file without its ending. If names are alike, all but the first get a number."""
    plain = [os.path.splitext(os.path.basename(path))[0] for path in paths]
    firsts = set(plain)
    names: Dict[str, None] = {}
    for name in plain:
        unique, number = name, 1
        while unique in names or (number > 1 and unique in firsts):
            number += 1
            unique = "%s-%d" % (name, number)
        names[unique] = None
    return list(names)


def _ranks(trace):
    """The rank of each process of a trace; 0 if it has none."""
    return [max(process["rank"], 0) for process in trace.processes]


def _by_rank(trace, name):
    """(rank, pyarrow.Table) of one of the trace's tables."""
    from penstock._trace_library import numpy

    table = getattr(trace, name)()
    np = numpy()
    rank_of = np.array([*_ranks(trace), 0], np.int64)
    process = table["process"] if len(table) else np.zeros(0, np.int64)
    ranks = rank_of[np.minimum(process, len(rank_of) - 1)]
    found = np.unique(ranks)
    if len(found) < 2:
        return [(int(found[0]) if len(found) else 0, table.to_arrow())]
    return [(int(rank), table.where(ranks == rank).to_arrow()) for rank in found]


def _run_rows(arrow, trace: Trace) -> Dict[int, Any]:
    """One row for each rank of a trace, each with the verdict on the whole trace."""
    report = trace.report()
    ranks = sorted({max(p["rank"], 0) for p in trace.processes if p["role"] == "consumer"}) or [0]
    loader = report.get("loader") or {}
    verdict = report.get("verdict") or {}
    rates = report.get("throughput") or {}
    row = {
        "path": os.path.abspath(trace.path),
        "kind": loader.get("kind"),
        "workers": loader.get("num_workers") if loader.get("workers_known", True) else None,
        "verdict": verdict.get("bottleneck"),
        "wait_fraction": verdict.get("wait_fraction"),
        "samples_per_s": rates.get("samples_per_s"),
        "seconds": (trace.end_ns - trace.begin_ns) / 1e9,
        "began": (trace.begin_ns + trace.realtime_offset_ns) / 1e9,
        "report": json.dumps(report),
    }
    types = {
        "path": arrow.string(),
        "kind": arrow.string(),
        "workers": arrow.int64(),
        "verdict": arrow.string(),
        "wait_fraction": arrow.float64(),
        "samples_per_s": arrow.float64(),
        "seconds": arrow.float64(),
        "began": arrow.float64(),
        "report": arrow.string(),
    }
    schema = arrow.schema(list(types.items()))
    table = arrow.Table.from_pylist([row], schema=schema)
    return {rank: table for rank in ranks}


def _escaped(text):
    """A run's name as the name of a partition. Characters with a meaning there, such as "/" and "=", are escaped."""
    return "".join(c if c.isalnum() or c in "-_. " else "%%%02X" % ord(c) for c in text)
