# SPDX-License-Identifier: Apache-2.0
"""The functions of libpenstock_trace.so by ctypes. traces/capi/penstock_trace.h has their contracts. Columns need
NumPy."""
import ctypes
import json
import os
import weakref

from penstock._places import library

ABI = 1
ALL_STAGES = (1 << 64) - 1


class TraceError(RuntimeError):
    """A trace cannot be read, or cannot answer a question. The message names the file."""


def _table(title, /, **columns):
    """A struct of pointers to columns, and the NumPy types of the columns, in the header's order."""
    fields = [("size", ctypes.c_size_t), *((column, ctypes.c_void_p) for column in columns)]
    return type(title, (ctypes.Structure,), {"_fields_": fields, "dtypes": columns})


_i64, _i32, _u64, _u32, _u16, _u8 = "int64", "int32", "uint64", "uint32", "uint16", "uint8"
Spans = _table(
    "Spans", start=_i64, duration=_i64, cpu=_i64, busy=_i64, bytes=_u64, sample=_i64, batch=_i64, name=_u32,
    object=_u32, thread=_u32, process=_u32, generation=_u16, stage=_u8, flags=_u8, depth=_u8,
)  # fmt: skip
Events = _table(
    "Events", at=_i64, batch=_i64, value=_i64, thread=_u32, process=_u32, generation=_u16, type=_u8
)  # fmt: skip
Functions = _table(
    "Functions", start=_i64, unit_time=_i64, sample=_i64, batch=_i64, own=_i64, total=_i64, calls=_u64, unit=_u32,
    function=_u32, file=_u32, line=_u32, thread=_u32, process=_u32, node=_i32, caller=_i32, generation=_u16, stage=_u8,
    kind=_u8, flags=_u8,
)  # fmt: skip
Counters = _table("Counters", at=_i64, value=_i64, name=_u32, process=_u32)


class Counts(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("spans", ctypes.c_uint64),
        ("events", ctypes.c_uint64),
        ("counters", ctypes.c_uint64),
        ("begin", ctypes.c_int64),
        ("end", ctypes.c_int64),
        ("realtime_offset", ctypes.c_int64),
        ("functions", ctypes.c_uint64),
    )


_handle, _text, _long = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64
_FUNCTIONS = {
    "penstock_trace_abi": (ctypes.c_int, ()),
    "penstock_trace_message": (_text, ()),
    "penstock_trace_open": (ctypes.c_int, (_text, ctypes.POINTER(_handle))),
    "penstock_trace_close": (None, (_handle,)),
    "penstock_trace_counts": (None, (_handle, ctypes.POINTER(Counts))),
    "penstock_trace_about": (_text, (_handle,)),
    "penstock_trace_stage": (_text, (ctypes.c_uint32,)),
    "penstock_trace_event": (_text, (ctypes.c_uint32,)),
    "penstock_trace_call": (_text, (ctypes.c_uint32,)),
    "penstock_trace_spans": (_long, (_handle, ctypes.c_uint64, ctypes.POINTER(Spans))),
    "penstock_trace_events": (_long, (_handle, ctypes.POINTER(Events))),
    "penstock_trace_counters": (_long, (_handle, ctypes.POINTER(Counters))),
    "penstock_trace_functions": (_long, (_handle, ctypes.c_uint64, ctypes.POINTER(Functions))),
    "penstock_trace_places": (_long, (_handle, ctypes.c_uint64, _handle, ctypes.c_uint64, _handle)),
    "penstock_trace_texts": (
        _long,
        (_handle, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t),
    ),
}

_opened: list = []


def load():
    if not _opened:
        opened = ctypes.CDLL(library("libpenstock_trace.so"))
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(opened, name)
            function.restype, function.argtypes = result, arguments
        if opened.penstock_trace_abi() != ABI:
            raise ImportError("libpenstock_trace.so is of another version than the package penstock")
        _opened.append(opened)
    return _opened[0]


def numbered(function):
    """The names that a function of the library has for numbers from 0 on; gaps are "unknown"."""
    names = []
    for number in range(256):
        text = function(number)
        names.append(text.decode() if text else "unknown")
    while names and names[-1] == "unknown":
        names.pop()
    return names


def numpy():
    try:
        import numpy as module
    except ImportError:
        raise TraceError("columns of a trace are NumPy arrays: pip install numpy") from None
    return module


class Reader:
    """One open trace."""

    def __init__(self, path):
        self.lib = load()
        self.path = path
        handle = _handle()
        if self.lib.penstock_trace_open(os.fsencode(path), ctypes.byref(handle)) != 0:
            raise TraceError(self._message())
        self._handle = handle
        self._finalizer = weakref.finalize(self, self.lib.penstock_trace_close, handle)
        self.counts = Counts(size=ctypes.sizeof(Counts))
        self.lib.penstock_trace_counts(handle, ctypes.byref(self.counts))

    def _message(self):
        return (self.lib.penstock_trace_message() or b"").decode("utf-8", "replace")

    @property
    def handle(self):
        """The library's handle of the trace. Raises TraceError if the trace is closed, since its memory is freed."""
        if self.closed:
            raise TraceError("%s: the trace is closed" % self.path)
        return self._handle

    @property
    def closed(self):
        return not self._finalizer.alive

    def close(self):
        self._finalizer()

    def about(self):
        text = self.lib.penstock_trace_about(self.handle)
        if text is None:
            raise TraceError(self._message())
        # Bytes: the lines of a str would also end at U+0085, U+2028 and U+2029, which a name may contain.
        return [json.loads(line) for line in text.splitlines()]

    def columns(self, table, wanted, fill):
        """NumPy columns by name. fill(struct) fills them and returns the number of rows. The columns have room for all
        rows of the table, but memory that the function does not touch costs nothing."""
        np = numpy()
        room = getattr(self.counts, table.__name__.lower())
        columns = {name: np.empty(room, dtype) for name, dtype in table.dtypes.items() if name in wanted}
        out = table(size=ctypes.sizeof(table))
        for name, column in columns.items():
            setattr(out, name, column.ctypes.data)
        rows = fill(ctypes.byref(out))
        if rows < 0:
            raise TraceError("%s: %s" % (self.path, self._message()))
        if rows < room // 2:  # free the unused addresses too
            return {name: column[:rows].copy() for name, column in columns.items()}
        return {name: column[:rows] for name, column in columns.items()}

    def spans(self, wanted, stages):
        fill = self.lib.penstock_trace_spans
        return self.columns(Spans, wanted, lambda out: fill(self.handle, stages, out))

    def events(self, wanted):
        return self.columns(Events, wanted, lambda out: self.lib.penstock_trace_events(self.handle, out))

    def counters(self, wanted):
        return self.columns(Counters, wanted, lambda out: self.lib.penstock_trace_counters(self.handle, out))

    def functions(self, wanted, stages):
        fill = self.lib.penstock_trace_functions
        return self.columns(Functions, wanted, lambda out: fill(self.handle, stages, out))

    def places(self, ids):
        """Replaces each id in a column by its index in the list of the ids that occur. Returns the list's texts."""
        np = numpy()
        places = np.zeros(int(ids.max()) + 1 if len(ids) else 0, np.uint32)
        used = np.empty(min(len(ids), len(places)), np.uint32)
        count = self.lib.penstock_trace_places(
            ids.ctypes.data, len(ids), places.ctypes.data, len(places), used.ctypes.data
        )
        if count < 0:
            raise TraceError("%s: %s" % (self.path, self._message()))
        return self.texts(used[:count])

    def texts(self, ids):
        """The texts of an array of ids."""
        np = numpy()
        ids = np.ascontiguousarray(ids, np.uint32)
        ends = np.zeros(len(ids) + 1, np.uint64)
        buffer = np.empty(0, np.uint8)
        while True:
            size = self.lib.penstock_trace_texts(
                self.handle, ids.ctypes.data, len(ids), ends[1:].ctypes.data, buffer.ctypes.data, len(buffer)
            )
            if size < 0:
                raise TraceError("%s: %s" % (self.path, self._message()))
            if size <= len(buffer):
                return Texts(buffer, ends)
            buffer = np.empty(size, np.uint8)


class Texts:
    """Texts one behind the other. They become Python strings at the first call of list()."""

    def __init__(self, whole, ends):
        self._held = whole, ends

    def list(self):
        held = self._held
        if isinstance(held, tuple):
            whole, ends = held[0].tobytes(), held[1].tolist()
            held = self._held = [whole[begin:end].decode("utf-8", "replace") for begin, end in zip(ends, ends[1:])]
        return held
