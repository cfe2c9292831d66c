# SPDX-License-Identifier: Apache-2.0
"""The functions of libpenstock_loader.so by ctypes. loader/capi/penstock_loader.h has their contracts."""
import ctypes
import os
import threading

from penstock._places import library

ABI = 2
OK, END, WAITING, STOPPED, USAGE, ENVIRONMENT, INPUT, FORKED = range(8)
ALL_CORES = 0xFFFFFFFF


class LoaderError(RuntimeError):
    """Data cannot be loaded. The message names the file, the place in it and the remedy."""


class Options(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("ops", ctypes.c_char_p),
        ("output", ctypes.c_char_p),
        ("layout", ctypes.c_char_p),
        ("io_method", ctypes.c_char_p),
        ("on_error", ctypes.c_char_p),
        ("index_folder", ctypes.c_char_p),
        ("seed", ctypes.c_uint64),
        ("rank", ctypes.c_uint64),
        ("world", ctypes.c_uint64),
        ("ram_cache", ctypes.c_uint64),
        ("batch", ctypes.c_uint32),
        ("workers", ctypes.c_uint32),
        ("prefetch", ctypes.c_uint32),
        ("read_ahead", ctypes.c_uint32),
        ("reduce", ctypes.c_double),
        ("trace_loader", ctypes.c_uint32),
        ("pin_device", ctypes.c_uint32),
        ("shuffle", ctypes.c_uint8),
        ("drop_last", ctypes.c_uint8),
        ("exif", ctypes.c_uint8),
        ("lenient", ctypes.c_uint8),
        ("persistent", ctypes.c_uint8),
        ("geometry", ctypes.c_uint8),
        ("pin", ctypes.c_uint8),
    )


class Facts(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("samples", ctypes.c_uint64),
        ("classes", ctypes.c_uint64),
        ("epoch_samples", ctypes.c_uint64),
        ("epoch_batches", ctypes.c_uint64),
        ("batch_bytes", ctypes.c_uint64),
        ("labels_offset", ctypes.c_uint64),
        ("ids_offset", ctypes.c_uint64),
        ("height", ctypes.c_uint32),
        ("width", ctypes.c_uint32),
        ("element_bytes", ctypes.c_uint32),
        ("channels_first", ctypes.c_uint32),
        ("workers", ctypes.c_uint32),
        ("kind", ctypes.c_char * 16),
        ("geometry_offset", ctypes.c_uint64),
        ("pinned", ctypes.c_uint32),
    )


class Batch(ctypes.Structure):
    _fields_ = (
        ("memory", ctypes.c_void_p),
        ("samples", ctypes.c_uint64),
        ("epoch", ctypes.c_uint64),
        ("index", ctypes.c_uint64),
        ("next_epoch", ctypes.c_uint64),
        ("next_position", ctypes.c_uint64),
    )


_handle = ctypes.c_void_p
_int, _u64, _text, _size = ctypes.c_int, ctypes.c_uint64, ctypes.c_char_p, ctypes.c_size_t
_FUNCTIONS = {
    "penstock_loader_abi": (_int, ()),
    "penstock_loader_message": (_text, ()),
    "penstock_loader_open": (
        _int,
        (ctypes.POINTER(_text), _size, ctypes.POINTER(Options), ctypes.POINTER(_handle)),
    ),
    "penstock_loader_facts": (_int, (_handle, ctypes.POINTER(Facts))),
    "penstock_loader_class": (_int, (_handle, _u64, _text, _size)),
    "penstock_loader_name": (_int, (_handle, _u64, _text, _size)),
    "penstock_loader_start": (_int, (_handle, _u64, _u64)),
    "penstock_loader_next": (_int, (_handle, ctypes.c_uint32, ctypes.POINTER(Batch))),
    "penstock_batch_release": (None, (ctypes.c_void_p,)),
    "penstock_loader_errors": (_int, (_handle, ctypes.POINTER(_u64), _text, _size)),
    "penstock_loader_interrupt": (None, (_handle,)),
    "penstock_loader_stop": (None, (_handle,)),
    "penstock_loader_close": (None, (_handle,)),
}

_opened: list = []


def load():
    """Loads the library and sets the types of its functions. With CDLL other Python threads run while one waits in the
    library."""
    if not _opened:
        opened = ctypes.CDLL(library("libpenstock_loader.so"))
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(opened, name)
            function.restype, function.argtypes = result, arguments
        if opened.penstock_loader_abi() != ABI:
            raise ImportError("libpenstock_loader.so is of another version than the package penstock")
        _opened.append(opened)
    return _opened[0]


def failure(lib, status):
    """The exception for a status that is an error."""
    message = (lib.penstock_loader_message() or b"").decode("utf-8", "replace")
    if status == USAGE:
        return ValueError(message)
    return LoaderError(message)


def block_class(lib, size):
    """A type whose instances are the memory of a batch and give it back when nobody holds them. Tensors, arrays
    and memoryviews made of an instance hold it."""
    release = lib.penstock_batch_release

    class Block(ctypes.c_ubyte * size):
        def __del__(self, release=release):
            release(self.__dict__.pop("memory", None))

        def __reduce__(self):
            raise TypeError("the memory of a batch cannot be pickled; pickle its tensor or array")

    return Block


class Native:
    """A PenstockLoader. close() ends it once, whichever thread or exit function calls it first."""

    def __init__(self, sources, options):
        self.lib = load()
        self.process = os.getpid()
        # Reentrant, since a garbage collection inside a locked part may end another iteration of this
        # loader.
        self.lock = threading.RLock()
        self.batch = Batch()
        self._batch_pointer = ctypes.pointer(self.batch)
        self.handle = None
        names = (ctypes.c_char_p * len(sources))(*map(os.fsencode, sources))
        handle = _handle()
        self.check(self.lib.penstock_loader_open(names, len(sources), ctypes.byref(options), ctypes.byref(handle)))
        self.handle = handle

    def check(self, status):
        if status not in (OK, END, WAITING, STOPPED):
            raise failure(self.lib, status)
        return status

    def require(self):
        """Raises if the loader cannot be used in this process. Called before taking the lock, which may be
        locked in a forked child for ever."""
        if self.process != os.getpid():
            raise LoaderError(
                "this loader belongs to process %d; this process is a fork of it and has none of its threads: make a "
                "Loader in each process that loads" % self.process
            )
        if self.handle is None:
            raise LoaderError("the loader is closed")

    def facts(self):
        facts = Facts(size=ctypes.sizeof(Facts))
        self.check(self.lib.penstock_loader_facts(self.handle, ctypes.byref(facts)))
        return facts

    def class_name(self, label):
        return self._texts(self.lib.penstock_loader_class, [label])[0]

    def sample_names(self, ids):
        return self._texts(self.lib.penstock_loader_name, ids)

    def _texts(self, function, numbers):
        text = ctypes.create_string_buffer(8192)
        texts = []
        for number in numbers:
            self.check(function(self.handle, number, text, len(text)))
            texts.append(os.fsdecode(text.value))
        return texts

    def next(self, milliseconds):
        if self.batch.memory:  # Ctrl-C raised between the library's return and take()
            return OK
        return self.lib.penstock_loader_next(self.handle, milliseconds, self._batch_pointer)

    def take(self):
        """The memory of the batch that next() has got. It belongs to the caller."""
        memory, self.batch.memory = self.batch.memory, None
        return memory

    def drop(self):
        """Gives back the memory of a batch that nobody has taken."""
        self.lib.penstock_batch_release(self.take())

    def errors(self):
        count, text = ctypes.c_uint64(), ctypes.create_string_buffer(65536)
        self.check(self.lib.penstock_loader_errors(self.handle, ctypes.byref(count), text, len(text)))
        return count.value, os.fsdecode(text.value).splitlines()

    def stop(self):
        if self.process == os.getpid():
            with self.lock:
                if self.handle is not None:
                    self.lib.penstock_loader_stop(self.handle)

    def close(self):
        if self.process != os.getpid() or self.handle is None:
            return
        self.lib.penstock_loader_interrupt(self.handle)  # so a thread that waits in next() releases the lock soon
        with self.lock:
            self.drop()
            handle, self.handle = self.handle, None
            self.lib.penstock_loader_close(handle)
