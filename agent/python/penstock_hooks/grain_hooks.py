# SPDX-License-Identifier: Apache-2.0
"""Grain: records the training loop over a DataLoader or a dataset. In threads and worker processes, records taking a
record from the source (`sample`), the program's maps (`augment`), and making a batch (`collate`).

Grain pickles datasets together with the program's functions and sends them to its workers. So nothing of ours is put
into a dataset or a transform. Instead, methods of Grain's classes are replaced: Grain pickles classes by name. And
attributes of iterators are set: Grain does not pickle iterators. A worker does not say which batch of the loop it
makes, so its spans have no batch.
"""
import functools
import types
import weakref

from penstock_hooks import wire
from penstock_hooks.bridge import begin, cancel, end, intern, role
from penstock_hooks.facts import write_affinity
from penstock_hooks.foreign import next_hook, open_loop
from penstock_hooks.torch_fetch import sample_id
from penstock_hooks.torch_state import process
from penstock_hooks.wrapping import TypeNames, payload_bytes, replace, spanned

_OURS = "grain."
_PIPELINE = "_penstock_pipeline"
_EMPTY = {}
_sources = TypeNames()


def _parents(data):
    """The datasets that `data` is made of, from the training loop's end to the source."""
    for _ in range(64):
        yield data
        parents = getattr(data, "_parents", ())
        if not parents:
            return
        data = parents[0]


def _options(options):
    if options is not None and options.num_workers:
        yield "num_workers", options.num_workers
        yield "prefetch_factor", options.per_worker_buffer_size
        yield "start_method", "spawn"
    else:
        yield "num_workers", 0


def _loader_facts(loader):
    for operation in loader._operations:
        if hasattr(operation, "batch_size") and hasattr(operation, "drop_remainder"):
            yield "batch_size", operation.batch_size
            yield "drop_last", operation.drop_remainder
    yield from _options(loader._multiprocessing_options)


def _dataset_facts(data):
    workers = 0
    for one in _parents(data):
        kind = type(one).__name__
        if kind in ("BatchMapDataset", "BatchIterDataset"):
            yield "batch_size", one._batch_size
            yield "drop_last", one._drop_remainder
        elif kind == "InterleaveIterDataset":
            shards = one._datasets
            # `shards` may be a dataset. Taking an element of one would call functions of the program.
            known = type(shards) in (list, tuple) and len(shards) > 0
            if known and type(shards[0]).__name__ == "ProcessPrefetchIterDataset":
                workers = len(shards)
                yield "prefetch_factor", shards[0]._buffer_size
                yield "start_method", "spawn"
    yield "num_workers", workers


def _make_output_iter(original):
    """For `replace`: __iter__ of the dataset that Grain puts at the end of each pipeline. It returns the iterator that
    the training loop uses."""

    def __iter__(self):
        iterator = original(self)
        try:
            if type(iterator).__module__.startswith(_OURS):
                setattr(iterator, _PIPELINE, self._parents[0])
                replace(type(iterator), "__next__", _make_next)
        except Exception:
            pass
        return iterator

    return __iter__


def _make_next(original):
    def __next__(self):
        pipeline = getattr(self, "__dict__", _EMPTY).get(_PIPELINE)
        if pipeline is None:  # an iterator inside a pipeline, of the same class
            return original(self)
        loop = self.__dict__.get("_penstock")
        if loop is None or loop.ended:
            loop = open_loop(self, "grain", lambda _iterator: pipeline, _dataset_facts)
            if loop is None:
                return original(self)
        return loop.take(original, self)

    return __next__


def _number(data, index):
    """The index in the source. A repeated dataset counts on in later epochs, so Grain takes its index modulo the length
    of the source."""
    try:
        return sample_id(data._index_mod_len(index))
    except Exception:  # an earlier Grain, or a source that fails now and will fail again
        return sample_id(index)


def _make_source(original):
    def __getitem__(self, index):
        if isinstance(index, slice):
            return original(self, index)
        token = begin(wire.SAMPLE, _sources[type(self._source)], _number(self, index), -1, 0)
        try:
            result = original(self, index)
        except BaseException:
            end(token)
            raise
        if str(type(result).__module__).startswith(_OURS):  # a part of a pipeline, which Grain keeps in a source
            cancel(token)
        else:
            end(token, payload_bytes(result))
        return result

    return __getitem__


def _make_sources(original):
    """For `replace`: one span for several records, if the source gives them at once. Otherwise Grain takes each by
    __getitem__, whose hook makes the spans."""

    def _getitems(self, indices):
        if not hasattr(type(self._source), "_getitems"):
            return original(self, indices)
        token = begin(wire.SAMPLE, _sources[type(self._source)])
        try:
            return original(self, indices)
        finally:
            end(token)

    return _getitems


def _label(function):
    """The name of the program's transform; None for a function of Grain's own."""
    while isinstance(function, functools.partial):
        function = function.func
    owner = getattr(function, "__self__", None)
    if owner is not None and not isinstance(owner, (type, types.ModuleType)):  # Transform.map, bound
        return None if type(owner).__module__.startswith(_OURS) else type(owner).__name__
    if (getattr(function, "__module__", "") or "").startswith(_OURS):
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        transform = cells.get("transform")  # the DataLoader's function around the program's transform
        return None if transform is None else type(transform.cell_contents).__name__
    return getattr(function, "__name__", None) or type(function).__name__


def _name(function):
    try:
        label = _label(function)
    except Exception:
        return None
    return None if label is None else intern(label)


def _make_element(original):
    """For `replace`: a method of a MapDataset that applies the program's function to an element."""
    names = weakref.WeakKeyDictionary()  # by dataset; not kept in the dataset, since Grain pickles it

    def element(self, *args):
        try:
            name = names.get(self, 0)
            if name == 0:
                name = names[self] = _name(self._map_fn)
        except Exception:
            name = None
        if name is None:
            return original(self, *args)
        token = begin(wire.AUGMENT, name)
        try:
            return original(self, *args)
        finally:
            end(token)

    return element


def _make_iterator_init(original):
    """For `replace`: __init__ of an iterator that applies the program's function to each element."""

    def __init__(self, *args, **kwargs):
        original(self, *args, **kwargs)
        try:
            function = self._map_fn
            name = _name(function)
        except Exception:
            return
        if name is None:
            return

        def mapped(*arguments):
            token = begin(wire.AUGMENT, name)
            try:
                return function(*arguments)
            finally:
                end(token)

        self._map_fn = mapped

    return __init__


def _make_worker(original):
    """For `replace`: the loop of a worker process, whose name Grain pickles."""

    def _put_dataset_elements_in_buffer(*args, **kwargs):
        try:
            here = process()
            here.is_worker = True
        except Exception:
            pass
        return original(*args, **kwargs)

    return _put_dataset_elements_in_buffer


def _make_context_iter(original):
    """For `replace`: __iter__ of the dataset that knows which worker this is."""

    def __iter__(self):
        iterator = original(self)
        here = process()
        if here.is_worker and not here.has_role:
            here.has_role = True
            try:
                role(wire.WORKER, int(self._mp_context.process_index))
                write_affinity()
            except Exception:
                pass
        return iterator

    return __iter__


_MAPS = (("MapMapDataset", "_map_element"), ("RandomMapMapDataset", "_random_map_element"),
         ("MapWithIndexMapDataset", "_map_with_index_fn"))  # fmt: skip
_ITERATORS = ("_MapDatasetIterator", "_RandomMapDatasetIterator", "_MapWithIndexDatasetIterator")


def _patch_maps(module):
    for kind, method in _MAPS:
        if hasattr(module, kind):
            replace(getattr(module, kind), method, _make_element)
    for kind in _ITERATORS:
        if hasattr(module, kind):
            replace(getattr(module, kind), "__init__", _make_iterator_init)


def patch(module):
    """`module`: a module of grain._src.python."""
    name = module.__name__.rpartition(".")[2]
    if name == "data_loader":
        kind = module.DataLoaderIterator
        replace(kind, "__next__", next_hook("grain", lambda iterator: iterator._data_loader, _loader_facts))
    elif name == "dataset":
        if hasattr(module, "_OutputIterDataset"):
            replace(module._OutputIterDataset, "__iter__", _make_output_iter)
    elif name == "source":
        replace(module.SourceMapDataset, "__getitem__", _make_source)
        replace(module.SourceMapDataset, "_getitems", _make_sources)
    elif name == "map":
        _patch_maps(module)
    elif name == "batch":
        replace(module, "make_batch", spanned(wire.COLLATE, "grain.make_batch", payload_bytes))
    elif name == "process_prefetch":
        replace(module, "_put_dataset_elements_in_buffer", _make_worker)
    elif name == "prefetch":
        if hasattr(module, "_MpContextIterDataset"):
            replace(module._MpContextIterDataset, "__iter__", _make_context_iter)
