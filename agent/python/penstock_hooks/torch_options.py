# SPDX-License-Identifier: Apache-2.0
"""The DataLoader's arguments: changes them for PENSTOCK_OVERRIDE and PENSTOCK_FIXED_BATCH, and writes the facts about
a loader."""
import inspect
import itertools
import os
import resource
import sys

from penstock_hooks import overrides
from penstock_hooks.bridge import fact
from penstock_hooks.facts import write_affinity
from penstock_hooks.monitoring import profiled
from penstock_hooks.places import callers
from penstock_hooks.torch_state import KNOWN, MADE_ANEW, first_time, loader_index, places, process
from penstock_hooks.wrapping import replace, unseen

_OVERRIDE = "PENSTOCK_OVERRIDE"  # workers=8,prefetch=4,batch=64,pin=1,at=train.py:88, and keys for overrides.py
_FIXED = "PENSTOCK_FIXED_BATCH"
_EPOCH_FACTS = 4096
_LOADER_FACTS = 64  # loaders that get facts; a program may make many more
_BATCH_TENSORS = 4096  # a batch with more tensors is not described
_DESCRIBED = 32  # batches of a loader that are described: the facts hold their mean
_CHANNELS = 4  # a first dimension of at most this length may be the channels of a picture


def parse_override(text):
    """{"workers": 8, ...}; unknown keys and bad numbers are left out."""
    values = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        key, value = key.strip(), value.strip().lower()
        if key in ("workers", "prefetch", "batch") and value.isdecimal():
            values[key] = int(value)
        elif key in ("pin", "persistent", "in_order") and value in ("0", "1", "true", "false"):
            values[key] = value in ("1", "true")
        elif key == "at":
            values[key] = part.partition("=")[2].strip()
        elif key == "start_method" and value in ("fork", "spawn", "forkserver"):
            values[key] = value
    if values.get("prefetch") == 0:
        del values["prefetch"]
    if values.get("batch") == 0:
        del values["batch"]
    return values


def is_meant(values, made):
    """Whether `values` apply to a loader that was made by the calls `made` (file:line, innermost first). The key `at`
    may name either of the two innermost calls."""
    at = values.get("at")
    return at is None or any(place == at or place.endswith(os.sep + at) for place in made[:2])


def apply_override(values, signature, args, kwargs):
    """The keyword arguments for DataLoader.__init__: changed by `values`, and such that the DataLoader still accepts
    them."""
    bound = signature.bind(None, *args, **kwargs).arguments
    bound.pop(next(iter(signature.parameters)))  # self
    if "workers" in values:
        bound["num_workers"] = values["workers"]
    if "pin" in values:
        bound["pin_memory"] = values["pin"]
    if "persistent" in values:
        bound["persistent_workers"] = values["persistent"]
    if "prefetch" in values:
        bound["prefetch_factor"] = values["prefetch"]
    if "start_method" in values:
        bound["multiprocessing_context"] = values["start_method"]
    if "in_order" in values and "in_order" in signature.parameters:
        bound["in_order"] = values["in_order"]
    size = bound.get("batch_size", 1)
    if "batch" in values and bound.get("batch_sampler") is None and size is not None:
        bound["batch_size"] = values["batch"]
    if not bound.get("num_workers", 0):
        for name in ("prefetch_factor", "persistent_workers", "timeout", "multiprocessing_context"):
            bound.pop(name, None)
    return bound


def _make_init(original):
    values = parse_override(os.environ.get(_OVERRIDE, ""))
    signature = inspect.signature(original)

    def __init__(self, *args, **kwargs):
        changed = None
        made = ()
        try:
            made = places[self] = callers(self)
        except Exception:
            pass
        try:
            if values and is_meant(values, made):
                changed = apply_override(values, signature, args, kwargs)
        except Exception:
            pass
        if changed is not None:
            try:
                return original(self, **changed)
            except (TypeError, ValueError, AssertionError):
                pass  # if the program's own arguments are wrong, the call below raises the error again
        return original(self, *args, **kwargs)

    __init__.__signature__ = signature  # inspect.getfullargspec() does not follow __wrapped__
    return __init__


class FixedBatch:
    """The first batch of an iterator, handed out again and again."""

    __slots__ = ("ready", "limit", "_data")

    def __init__(self, limit):
        self.ready = False
        self.limit = limit  # batches in an epoch; None: no end
        self._data = None

    def keep(self, data):
        self._data = _fresh(data)
        self.ready = True

    def again(self):
        return _fresh(self._data)


def _fresh(data):
    """New lists, tuples and dicts around the same tensors, so that a program may pop from its batch. Any other
    container is shared by all batches."""
    kind = type(data)
    if kind is list:
        return [_fresh(item) for item in data]
    if kind is tuple:
        return tuple([_fresh(item) for item in data])
    if kind is dict:
        return {key: _fresh(value) for key, value in data.items()}
    return data


def fixed_batch(loader):
    if os.environ.get(_FIXED, "0") in ("", "0"):
        return None
    called = getattr(loader, "_IterableDataset_len_called", None)
    try:
        limit = len(loader)
    except Exception:
        limit = None
    try:
        loader._IterableDataset_len_called = called
    except Exception:
        pass
    return FixedBatch(limit)


def _start_method(loader, iterator):
    if loader.num_workers == 0:
        return "none"
    if getattr(iterator, "_worker_method", "multiprocessing") == "thread":
        return "thread"
    chosen = loader.multiprocessing_context
    if chosen is not None:
        return chosen.get_start_method()
    import multiprocessing

    return multiprocessing.get_start_method(allow_none=True) or "fork"


def _facts(loader, iterator):
    """Yields (key, function that returns the value) in the order in which the facts are written."""
    dataset = loader.dataset
    sampler = getattr(loader, "batch_sampler", None)
    iterable = getattr(iterator, "_dataset_kind", 0) == 1
    yield "kind", lambda: "pytorch"
    made_at, called_from = (*_made(loader), None, None)[:2]
    yield "made_at", lambda: made_at
    yield "called_from", lambda: called_from
    yield "num_workers", lambda: loader.num_workers
    yield "prefetch_factor", lambda: loader.prefetch_factor if loader.num_workers else 0
    yield "batch_size", lambda: (
        loader.batch_size if loader.batch_size is not None else getattr(sampler, "batch_size", 0) or 0
    )
    yield "pin_memory", lambda: bool(loader.pin_memory)
    yield "pin_memory_effective", lambda: bool(iterator._pin_memory)
    yield "persistent_workers", lambda: bool(loader.persistent_workers)
    yield "in_order", lambda: bool(getattr(loader, "in_order", True))
    yield "start_method", lambda: _start_method(loader, iterator)
    yield "dataset_kind", lambda: "iterable" if iterable else "map"
    yield "dataset_type", lambda: type(dataset).__name__
    if not iterable and not profiled():  # a profiler would see the call
        yield "dataset_len", lambda: len(dataset)
        if _has_own_length(sampler):
            yield "epoch_batches", lambda: len(sampler)
    yield "drop_last", lambda: bool(loader.drop_last or getattr(sampler, "drop_last", False))
    yield "dataset_root", lambda: _root(dataset)
    yield "fixed_batch", lambda: os.environ.get(_FIXED, "0") not in ("", "0")


def _has_own_length(sampler):
    """Whether a batch sampler of PyTorch's own may give another number of samples than the dataset has. Calling len()
    of such a sampler runs no code of the program."""
    inner = getattr(sampler, "sampler", None) if _is_of_pytorch(sampler) else None
    if not _is_of_pytorch(inner):
        return False
    name = type(inner).__name__
    return name != "SequentialSampler" and (name != "RandomSampler" or inner._num_samples is not None)


def _is_of_pytorch(sampler):
    return type(sampler).__module__.startswith("torch.utils.data.")


def _root(dataset):
    """The folder of the data, if the dataset or the dataset that it wraps names it, else None."""
    for _ in range(4):
        root = getattr(dataset, "root", None)
        if isinstance(root, (str, os.PathLike)):
            return os.path.abspath(os.fspath(root))
        dataset = getattr(dataset, "dataset", None)
        if dataset is None:
            return None
    return None


def _made(loader):
    """places.callers() when the loader was made; () if not known, for example for a loader that is not hashable."""
    try:
        return places.get(loader, ())
    except TypeError:
        return ()


def _text(value):
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _alike(loader):
    """A key for a loader. Two loaders have equal keys if the same lines of the program made them with the same
    arguments. None if the lines are not known."""
    made = _made(loader)
    if not made:
        return None
    return made, loader.num_workers, loader.batch_size, type(loader.dataset).__name__, bool(loader.drop_last)


def _tell_once(number):
    if number not in process().anew:
        process().anew.add(number)
        fact("loader.%d.made_anew" % number, "true")


def record(loader, iterator, generation):
    """Writes loader.<k>.* when the loader is iterated over for the first time, and epoch.<generation> each time.

    Returns k, or None if there was an error.
    """
    number = None
    try:
        number, state = loader_index(loader, _alike(loader), iterator)
        values = parse_override(os.environ.get(_OVERRIDE, ""))
        if is_meant(values, _made(loader)):
            overrides.check_loader(loader, values)
        overrides.check()
        if generation <= _EPOCH_FACTS:
            fact("epoch.%d" % generation, str(number))
        if number >= _LOADER_FACTS or state == KNOWN:
            return number
        if state == MADE_ANEW:
            _tell_once(number)
            return number
        write_affinity()
        for key, value in _facts(loader, iterator):
            try:
                value = value()
                if value is not None:
                    fact("loader.%d.%s" % (number, key), _text(value))
            except Exception:
                pass
    except Exception:
        pass
    return number


def _tensors(data, *others, depth=4):
    """The plain tensors of a batch, and its plain objects of the classes `others`. Skips instances of subclasses, since
    accessing them could run code of the program."""
    kind = type(data)
    if kind is sys.modules["torch"].Tensor or kind in others:
        yield data
    elif depth and kind is dict:
        for item in data.values():
            yield from _tensors(item, *others, depth=depth - 1)
    elif depth and kind is list:
        for item in data:
            yield from _tensors(item, *others, depth=depth - 1)
    elif depth and (kind is tuple or (issubclass(kind, tuple) and hasattr(kind, "_fields"))):
        for item in tuple.__iter__(data):
            yield from _tensors(item, *others, depth=depth - 1)


def _is_torchs(tensor):
    """Whether PyTorch allocated the tensor's memory. If not, NumPy did, or the tensor was made from a buffer."""
    storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor._storage()
    if hasattr(storage, "resizable"):
        return storage.resizable()
    return storage.data_ptr() % 64 == 0  # an old PyTorch: its memory is so aligned, NumPy's only by chance


def describe_samples(number, data):
    """Writes how many bytes of the first of the samples `data` lie in memory that PyTorch allocated, and how many in
    other memory."""
    if number is None or number >= _LOADER_FACTS or type(data) is not list or not first_time("samples", number):
        return
    try:
        own, other = 0, 0
        arrays = getattr(sys.modules.get("numpy"), "ndarray", type(None))
        with unseen(sys.modules["torch"]):
            for item in itertools.islice(_tensors(data, arrays), _BATCH_TENSORS):
                size = item.nbytes if type(item) is arrays else item.numel() * item.element_size()
                if type(item) is not arrays and _is_torchs(item):
                    own += size
                else:
                    other += size
        if own + other:
            fact("loader.%d.sample_memory" % number, "torch:%d other:%d" % (own, other))
    except Exception:
        pass


def describe_batch(number, data, collated):
    """Writes the bytes of a loader's batch by data type, as the mean of the batches that were described so far, and
    for the first one its number of tensors.

    `collated`: the loader collated the batch. If it did not, several tensors with the same first dimension show that
    the dataset makes batches itself.
    """
    if number is None or number >= _LOADER_FACTS:
        return
    described = process().described.setdefault(number, _Described())
    if described.batches >= _DESCRIBED:
        return
    described.batches += 1
    try:
        count, lengths = 0, []
        with unseen(sys.modules["torch"]):
            for tensor in _tensors(data):
                lengths.append(tensor.shape[0] if tensor.dim() else 0)
                count += 1
                if count > _BATCH_TENSORS:
                    described.batches = _DESCRIBED
                    return
                name = str(tensor.dtype).rpartition(".")[2]
                described.bytes[name] = described.bytes.get(name, 0) + tensor.numel() * tensor.element_size()
        text = " ".join("%s:%d" % (name, size // described.batches) for name, size in sorted(described.bytes.items()))
        if text and text != described.text:
            described.text = text
            fact("loader.%d.batch_types" % number, text)
        if described.batches > 1:
            return
        if text:
            fact("loader.%d.batch_tensors" % number, str(count))
            sharing = sys.modules.get("torch.multiprocessing")
            fact("torch.sharing_strategy", sharing.get_sharing_strategy() if sharing else "unknown")
            fact("limit.open_files", str(resource.getrlimit(resource.RLIMIT_NOFILE)[0]))
        if not collated and count > 1 and len(set(lengths)) == 1 and lengths[0] > _CHANNELS:
            fact("loader.%d.batch_length" % number, str(lengths[0]))
    except Exception:
        described.batches = _DESCRIBED


class _Described:
    """The batches of a loader that were described."""

    __slots__ = ("batches", "bytes", "text")

    def __init__(self):
        self.batches = 0
        self.bytes = {}  # by data type, summed over the batches
        self.text = ""


def patch(dataloader):
    replace(dataloader.DataLoader, "__init__", _make_init)
    text = os.environ.get(_OVERRIDE, "")
    if parse_override(text):
        fact("override", text)
