# SPDX-License-Identifier: Apache-2.0
"""penstock.open(): a trace as tables, and its report as Python objects. docs/python-trace.md has examples."""
import json
import os
import subprocess
import threading
from typing import Any, Dict, Iterable, List, Optional, Sequence, Union

from penstock._places import program
from penstock._trace_library import ALL_STAGES, Reader, TraceError, numbered, numpy
from penstock.tables import Table

__all__ = ["Trace", "TraceError", "open"]

# Columns of the tables -> columns of the library.
_SPANS = {
    "start_ns": "start",
    "duration_ns": "duration",
    "cpu_ns": "cpu",
    "busy_ns": "busy",
    "bytes": "bytes",
    "sample": "sample",
    "batch": "batch",
    "generation": "generation",
    "stage": "stage",
    "name": "name",
    "object": "object",
    "thread": "thread",
    "process": "process",
    "flags": "flags",
    "depth": "depth",
}
_EVENTS = {
    "at_ns": "at",
    "event": "type",
    "batch": "batch",
    "generation": "generation",
    "value": "value",
    "thread": "thread",
    "process": "process",
}
_CALLS = {
    "unit": "unit",
    "stage": "stage",
    "start_ns": "start",
    "unit_ns": "unit_time",
    "sample": "sample",
    "batch": "batch",
    "generation": "generation",
    "node": "node",
    "caller": "caller",
    "kind": "kind",
    "function": "function",
    "file": "file",
    "line": "line",
    "own_ns": "own",
    "total_ns": "total",
    "calls": "calls",
    "thread": "thread",
    "process": "process",
    "flags": "flags",
}
_COUNTERS = {"at_ns": "at", "name": "name", "value": "value", "process": "process"}
_NEXT_ENTERED, _BATCH_GOT, _BATCH_DELIVERED = "next_entered", "batch_got", "batch_delivered"


class Trace:
    """One trace, read as needed. In a notebook it shows the report's page."""

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        self.path = os.fspath(path)
        self._reader = Reader(self.path)
        self._about: Optional[Dict[str, Any]] = None
        self._lock = threading.Lock()

    # What is known of the run.

    def _heads(self):
        with self._lock:
            if self._about is None:
                about: Dict[str, Any] = {"facts": {}, "processes": [], "threads": [], "losses": {}}
                for line in self._reader.about():
                    kind = line.pop("type")
                    if kind == "fact":
                        about["facts"][line["key"]] = line["value"]
                    elif kind == "losses":
                        about["losses"] = line
                    else:
                        about["processes" if kind == "process" else "threads"].append(line)
                self._about = about
            return self._about

    @property
    def facts(self) -> Dict[str, str]:
        """Facts of the whole run: traces/FORMAT.md has their keys."""
        return dict(self._heads()["facts"])

    @property
    def processes(self) -> List[Dict[str, Any]]:
        """pid, role, rank, command, facts, ... of each process. The column "process" is an index into this list."""
        return list(self._heads()["processes"])

    @property
    def threads(self) -> List[Dict[str, Any]]:
        """pid, tid, name, ... of each thread. The column "thread" is an index into this list."""
        return list(self._heads()["threads"])

    @property
    def losses(self) -> Dict[str, Any]:
        """What is missing from the trace or damaged."""
        return dict(self._heads()["losses"])

    @property
    def span_count(self) -> int:
        return self._reader.counts.spans

    @property
    def begin_ns(self) -> int:
        return self._reader.counts.begin

    @property
    def end_ns(self) -> int:
        return self._reader.counts.end

    @property
    def realtime_offset_ns(self) -> int:
        """Nanoseconds to add to a time of the trace, for the time since 1970."""
        return self._reader.counts.realtime_offset

    # Tables.

    def spans(
        self, stage: Union[None, str, Iterable[str]] = None, columns: Optional[Sequence[str]] = None
    ) -> Table:
        """The spans, by thread and start, of all stages, of one ("read", "decode", ...) or of several, with all or some
        columns.

        Units: start_ns is a time of CLOCK_MONOTONIC; cpu_ns is thread CPU time, -1 if it was not taken; busy_ns is the
        time inside the calls of a read span, which stands for several calls. batch and sample are -1 if there is none.
        """
        names = numbered(self._reader.lib.penstock_trace_stage)
        wanted = _chosen(columns, _SPANS)
        read = self._reader.spans({_SPANS[one] for one in wanted}, _mask(stage, names))
        table = {one: read[_SPANS[one]] for one in wanted}
        lists = {"stage": names} if "stage" in table else {}
        return self._spelt(table, lists, ("name", "object"))

    def events(self, columns: Optional[Sequence[str]] = None) -> Table:
        """The events of batches, epochs and workers, by time."""
        wanted = _chosen(columns, _EVENTS)
        read = self._reader.events({_EVENTS[one] for one in wanted})
        table = {one: read[_EVENTS[one]] for one in wanted}
        return Table(table, {"event": numbered(self._reader.lib.penstock_trace_event)} if "event" in table else {})

    def counters(self, columns: Optional[Sequence[str]] = None) -> Table:
        """Counters of processes, host and devices, by time. traces/FORMAT.md has their names."""
        wanted = _chosen(columns, _COUNTERS)
        read = self._reader.counters({_COUNTERS[one] for one in wanted})
        return self._spelt({one: read[_COUNTERS[one]] for one in wanted}, {}, ("name",))

    def functions(
        self, stage: Union[None, str, Iterable[str]] = None, columns: Optional[Sequence[str]] = None
    ) -> Table:
        """The Python calls of the followed samples, collated batches and steps: of all stages, of one ("sample",
        "collate", "step") or of several, with all or some columns. There is a row for each path of callers to a
        function.

        Rows: by unit (followed units count from 0 in the order of their starts), then by node, callers first. caller
        is a node of the same unit, -1 if the unit itself called. kind is "function", "builtin" (a callable not
        written in Python: no file, line 0) or "line" (a line of its caller; calls says how often it was entered).
        Units: start_ns is the start of the unit on CLOCK_MONOTONIC; unit_ns is the time of the whole unit; total_ns is
        the time in all calls of the row; own_ns is the part of total_ns that is in no other row. All are without the
        cost of following. batch and sample are -1 if there is none. The table is empty if nothing was followed. Raises
        ValueError for an unknown stage or column.
        """
        lib = self._reader.lib
        names = numbered(lib.penstock_trace_stage)
        wanted = _chosen(columns, _CALLS)
        read = self._reader.functions({_CALLS[one] for one in wanted}, _mask(stage, names))
        table = {one: read[_CALLS[one]] for one in wanted}
        lists = {"stage": names, "kind": numbered(lib.penstock_trace_call)}
        if "kind" in table:  # 0 is "unknown", for kinds of later versions
            table["kind"][table["kind"] >= len(lists["kind"])] = 0
        return self._spelt(table, {one: lists[one] for one in lists if one in table}, ("function", "file"))

    def batches(self) -> Table:
        """The batches of the training loop, by time. asked_ns: when the loop asked for the batch; got_ns: when the
        batch arrived; delivered_ns: when it was delivered; wait_ns: from asked_ns to got_ns, -1 if not known; step_ns:
        from delivered_ns until the loop asked again, -1 for the last batch of an iteration."""
        np = numpy()
        events = self.events()
        kinds = events.categories("event")
        code = events.codes("event")

        def of(kind):
            return events.where(code == kinds.index(kind))

        delivered = of(_BATCH_DELIVERED)
        key = _keys(np, delivered)
        table = {
            "process": delivered["process"],
            "generation": delivered["generation"],
            "batch": delivered["batch"],
            "delivered_ns": delivered["at_ns"],
        }
        for column, kind in (("asked_ns", _NEXT_ENTERED), ("got_ns", _BATCH_GOT)):
            found = of(kind)
            table[column] = _match(np, key, _keys(np, found), found["at_ns"])
        known = (table["asked_ns"] >= 0) & (table["got_ns"] >= 0)
        table["wait_ns"] = np.where(known, table["got_ns"] - table["asked_ns"], -1)
        asked = of(_NEXT_ENTERED)
        after = _match(np, key + 1, _keys(np, asked), asked["at_ns"])
        table["step_ns"] = np.where(after >= 0, after - table["delivered_ns"], -1)
        return Table(table, {})

    def _spelt(self, table, lists, texts):
        """Replaces ids of texts by indices into the list of the texts that occur."""
        for name in texts:
            if name in table:
                lists[name] = self._reader.places(table[name])
        return Table(table, lists)

    # What the analyzer says.

    def report(self) -> Dict[str, Any]:
        """The report that `penstock report --json` prints: verdict, loader, stages, suggestions, ..."""
        return json.loads(self._ask("report", self.path, "--json"))

    def whatif(self, **settings: Any) -> List[Dict[str, Any]]:
        """Predicted rates of other settings, with one dict for each combination: t.whatif(workers=[1, 2, 4],
        prefetch=2, ram_cache=True) does `penstock whatif --workers 1,2,4 --prefetch 2 --ram-cache`."""
        if not settings:
            raise ValueError("whatif: name at least one setting: workers=[1, 2, 4]")
        arguments = []
        for name, value in settings.items():
            option = "--" + name.replace("_", "-")
            if isinstance(value, bool) and name not in ("pin", "persistent"):
                arguments += [option] if value else []
                continue
            values = value if isinstance(value, (list, tuple, range)) else [value]
            arguments += [option, ",".join(str(int(one) if isinstance(one, bool) else one) for one in values)]
        return json.loads(self._ask("whatif", self.path, *arguments, "--json"))["configurations"]

    def html(self, language: str = "en") -> str:
        """The report's page."""
        return self._ask("report", self.path, "--html", "-", *_language(language))

    def _repr_html_(self) -> str:
        page = self.html().replace("&", "&amp;").replace('"', "&quot;")
        return '<iframe srcdoc="%s" style="width:100%%;height:80vh;border:0"></iframe>' % page

    def _ask(self, *arguments):
        command = [program("penstock"), *arguments]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            raise TraceError(done.stderr.decode("utf-8", "replace").strip() or "penstock %s failed" % arguments[0])
        return done.stdout.decode("utf-8", "replace")

    def close(self) -> None:
        """Closes the trace. Tables stay valid."""
        self._reader.close()

    def __enter__(self) -> "Trace":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._reader.closed:
            return "<penstock.Trace %s: closed>" % self.path
        return "<penstock.Trace %s: %d spans of %d threads>" % (self.path, self.span_count, len(self._heads()["threads"]))


def open(path: Union[str, "os.PathLike[str]"]) -> Trace:  # noqa: A001, the name that files are opened by
    """Opens a trace, packed or still a recording. Raises TraceError, which names the file."""
    return Trace(path)


def _language(language):
    return [] if language == "en" else ["--lang", language]


def _chosen(columns, known):
    for one in columns or ():
        if one not in known:
            raise ValueError("there is no column %r: there is %s" % (one, ", ".join(known)))
    return list(columns) if columns is not None else list(known)


def _mask(stage, names):
    if stage is None:
        return ALL_STAGES
    mask = 0
    for one in [stage] if isinstance(stage, str) else stage:
        if one not in names:
            raise ValueError("there is no stage %r: there is %s" % (one, ", ".join(names)))
        mask |= 1 << names.index(one)
    return mask


def _keys(np, table):
    """One number for process, generation and batch. The number of the next batch is larger by one."""
    return (
        table["process"].astype(np.int64) << 48
        | table["generation"].astype(np.int64) << 32
        | (table["batch"] & 0xFFFFFFFF)
    )


def _match(np, wanted, keys, values):
    """For each wanted key the value of the first row with this key; -1 if there is no such row."""
    if len(keys) == 0:
        return np.full(len(wanted), -1, np.int64)
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, values[place], -1)
