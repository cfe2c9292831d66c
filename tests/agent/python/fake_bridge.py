# SPDX-License-Identifier: Apache-2.0
"""Stands in for penstock_hooks/bridge.py: writes each record as one line to $PENSTOCK_LOG.<pid>.

A test runs Python with a copy of agent/python in which this file is bridge.py (see harness.py).
It behaves as the agent's C functions do. begin() returns a token for each span. Each thread has a context:
begin() with five arguments sets a new one, and end() restores the old one. end() of an outer span also ends
the inner ones.
"""
import json
import os
import threading
import time

_STAGES = ("none read decode augment sample collate fetch put get pin wait idle h2d kernel step "
           "startup mark sync copy call block tokenize").split()  # fmt: skip
_EVENTS = ("none index_sent index_received batch_put batch_got delivered next_entered epoch_start "
           "epoch_end major_faults worker_start worker_end queue_depth digest").split()  # fmt: skip
_names = {}


class _Thread(threading.local):
    def __init__(self):
        self.context = (-1, -1, 0)
        self.open = []
        self.serial = 0
        self.pid = os.getpid()


_thread = _Thread()


def _here():
    if _thread.pid != os.getpid():
        _thread.__init__()
    return _thread


def _write(**record):
    record["pid"] = os.getpid()
    record["thread"] = threading.current_thread().name
    line = json.dumps(record) + "\n"
    path = "%s.%d" % (os.environ["PENSTOCK_LOG"], os.getpid())
    file = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    try:
        os.write(file, line.encode())
    finally:
        os.close(file)


def recording():
    return True


def now():
    return time.monotonic_ns()


def intern(text):
    assert type(text) is str
    value = hash_of(text)
    _names[value] = text
    return value


def hash_of(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value & 0xFFFFFFFF


def begin(stage, name, sample=None, batch=None, generation=None):
    assert type(stage) is int and type(name) is int, (stage, name)
    here = _here()
    saved = here.context
    if sample is not None:
        assert type(sample) is int and type(batch) is int and type(generation) is int
        here.context = (sample, batch, generation)
    here.serial += 1
    here.open.append((here.serial, stage, name, here.context, time.monotonic_ns(), saved))
    return here.serial


def _pop(token):
    here = _here()
    if token == 0 or all(span[0] != token for span in here.open):
        return None
    while True:
        span = here.open.pop()
        here.context = span[5]
        if span[0] == token:
            return span


def end(token, size=0, numbered=0):
    assert type(size) is int
    span = _pop(token)
    if span is not None:
        _span(span[1], span[2], span[3], span[4], size, len(_here().open), numbered)


def cancel(token):
    _pop(token)


def _span(stage, name, context, start, size, depth, numbered=0):
    _write(
        kind="span", stage=_STAGES[stage], name=_names.get(name, "?"), sample=context[0],
        batch=context[1], generation=context[2], start=start,
        duration=time.monotonic_ns() - start, bytes=size, depth=depth,
        numbered=numbered,
    )  # fmt: skip


def emit(stage, name, start, batch, generation, size):
    assert all(type(value) is int for value in (stage, name, start, batch, generation, size))
    _span(stage, name, (-1, batch, generation), start, size, len(_here().open))


def event(kind, batch, generation, value):
    assert all(type(number) is int for number in (kind, batch, generation, value))
    _write(
        kind="event", event=_EVENTS[kind], batch=batch, generation=generation, value=value, start=now()
    )  # fmt: skip


def counter(name, value):
    _write(kind="counter", name=_names[name], value=value)


def fact(key, value):
    assert type(key) is str and type(value) is str
    _write(kind="fact", key=key, value=value)


def context(sample, batch, generation):
    _here().context = (sample, batch, generation)


def role(number, worker):
    _write(kind="role", role=number, worker=worker)


def delivered(batch, generation):
    event(5, batch, generation, 0)


def open_spans(stage):
    return sum(span[1] == stage for span in _here().open)

follow = None  # this bridge cannot follow calls
probing = None  # this bridge cannot do experiments
