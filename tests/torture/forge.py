# SPDX-License-Identifier: Apache-2.0
"""Forges traces with correct checksums and absurd contents. traces/FORMAT.md describes the layout."""
import ctypes
import ctypes.util
import struct

MASK = (1 << 64) - 1
P1, P2, P3, P4, P5 = (11400714785074694791, 14029467366897019727, 1609587929392839161,
                      9650029242287828579, 2870177450012600261)  # fmt: skip
SPANS, STRINGS, PROCESSES, THREADS, FACTS, EVENTS, COUNTERS, SUMMARY, CONTENTS, PREVIEW = range(1, 11)


def _rotate(value, by):
    return ((value << by) | (value >> (64 - by))) & MASK


def _round(accumulator, lane):
    return _rotate((accumulator + lane * P2) & MASK, 31) * P1 & MASK


def xxh64(data):
    at, size = 0, len(data)
    if size >= 32:
        sums = [(P1 + P2) & MASK, P2, 0, (-P1) & MASK]
        while at + 32 <= size:
            lanes = struct.unpack_from("<4Q", data, at)
            sums = [_round(s, lane) for s, lane in zip(sums, lanes)]
            at += 32
        result = sum(_rotate(s, by) for s, by in zip(sums, (1, 7, 12, 18))) & MASK
        for s in sums:
            result = ((result ^ _round(0, s)) * P1 + P4) & MASK
    else:
        result = P5
    result = (result + size) & MASK
    while at + 8 <= size:
        (lane,) = struct.unpack_from("<Q", data, at)
        result = (_rotate(result ^ _round(0, lane), 27) * P1 + P4) & MASK
        at += 8
    if at + 4 <= size:
        (word,) = struct.unpack_from("<I", data, at)
        result = (_rotate(result ^ (word * P1 & MASK), 23) * P2 + P3) & MASK
        at += 4
    for byte in data[at:]:
        result = _rotate(result ^ (byte * P5 & MASK), 11) * P1 & MASK
    result = (result ^ (result >> 33)) * P2 & MASK
    result = (result ^ (result >> 29)) * P3 & MASK
    return result ^ (result >> 32)


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def zigzag(value):
    return varint((value << 1) ^ (value >> 63) if value < 0 else value << 1)


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return varint(len(data)) + data


class Zstd:
    def __init__(self):
        self.library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
        self.library.ZSTD_compressBound.restype = ctypes.c_size_t
        self.library.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
        self.library.ZSTD_compress.restype = ctypes.c_size_t
        self.library.ZSTD_compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p,
                                               ctypes.c_size_t, ctypes.c_int]  # fmt: skip

    def __call__(self, data):
        room = self.library.ZSTD_compressBound(len(data))
        out = ctypes.create_string_buffer(room)
        size = self.library.ZSTD_compress(out, room, data, len(data), 3)
        return out.raw[:size]


compress = Zstd()


def header():
    return b"PENSTPAK" + struct.pack("<HHI", 1, 0, 64) + bytes(48)


def section(kind, payload, items, thread=0, first=0, last=0, raw=None, packed=True):
    stored = compress(payload) if packed else payload
    head = struct.pack("<IHHIIIIqqQQ", 0x43455350, kind, int(packed), len(stored),
                       len(payload) if raw is None else raw, items, thread, first, last,
                       xxh64(stored), 0)  # fmt: skip
    return head + struct.pack("<Q", xxh64(head)) + stored


def finished(sections, listed=None):
    """Returns a whole file: header, sections, a table of contents and a footer. `listed` has the indices of the
    sections that the table names."""
    out = bytearray(header())
    offsets = []
    for one in sections:
        offsets.append(len(out))
        out += one
    entries = b"".join(struct.pack("<Q", offsets[i]) + sections[i][:64]
                       for i in (range(len(sections)) if listed is None else listed))  # fmt: skip
    at = struct.pack("<Q", len(out))
    out += section(CONTENTS, entries, len(entries) // 72)
    return bytes(out) + at + struct.pack("<Q", xxh64(at)) + b"PENSTEND"


def process(index, pid, facts=(), comm="python3", command=()):
    part = varint(pid) + varint(1) + varint(1) + zigzag(-1) * 4 + varint(1) + varint(99) + text(comm)
    part += varint(len(command)) + b"".join(text(word) for word in command)
    part += varint(0) + varint(len(facts)) + b"".join(text(k) + text(v) for k, v in facts)
    part += varint(0) * 7
    return varint(index) + varint(len(part)) + part


def thread(index, of, tid, name="main"):
    part = varint(of) + varint(tid) + text(name)
    return varint(index) + varint(len(part)) + part


def spans(count, first=1000):
    """Returns a block of spans that follow one another and last one nanosecond each. A column takes only one byte for
    each span."""
    columns = {1: zigzag(first) + bytes(count - 1), 2: b"\x01" * count, 3: bytes(count), 10: b"\x01" * count,
               12: bytes(count)}
    return varint(len(columns)) + b"".join(
        bytes([number]) + varint(len(column)) + column for number, column in columns.items())


def table():
    """Returns sections with a process, a thread of it and a text. Other sections refer to them."""
    return [section(STRINGS, varint(1) + zigzag(0) + varint(0) + varint(0), 1),
            section(PROCESSES, process(0, 100), 1), section(THREADS, thread(0, 0, 100), 1)]
