# SPDX-License-Identifier: Apache-2.0
"""torch.utils.data fetchers: `fetch`, `sample` and `collate` spans.

A fetcher keeps its class, whose fetch() gets a span. The dataset, iterator and collate function that a fetcher calls
are replaced, inside this fetcher only, by objects that pass everything on. The program sees the dataset through
worker_info and the loader; there it is not replaced.
"""
import functools
import numbers
import sys
from time import perf_counter_ns

from penstock_hooks import digests, functions, probe, torch_options, wire
from penstock_hooks.bridge import begin, cancel, end, fact, intern
from penstock_hooks.torch_state import Progress, local
from penstock_hooks.wrapping import replace

_SAMPLE, _COLLATE, _FETCH = wire.SAMPLE, wire.COLLATE, wire.FETCH
_SHARD_FACTS = 64  # epochs for which epoch.<n>.shards is written
# Modules whose calls of get_worker_info() are not the dataset's: PyTorch's default collate, and overrides.py.
_OTHER_ASKERS = ("torch.utils.data._utils.", "penstock_hooks.")
_pick = digests.pick


def sample_id(index):
    """The dataset index as the trace keeps it; -1 if it is no integer."""
    try:
        if isinstance(index, numbers.Integral) and -(1 << 62) < index < 1 << 62:
            return int(index)
    except Exception:
        pass
    return -1


class _Samples:
    """A map-style dataset inside a fetcher."""

    __slots__ = ("_dataset", "_progress", "_name", "_split")

    def __init__(self, dataset, progress, split):
        self._dataset = dataset
        self._progress = progress
        self._name = intern(type(dataset).__name__)
        self._split = split  # a batch is read one sample at a time, so that each sample has a span

    def __getitem__(self, index):
        progress = self._progress
        number = index if type(index) is int and -1 < index < 4611686018427387904 else sample_id(index)
        if number >= 0 and _pick(number):
            return self._chosen(index, number)
        token = begin(_SAMPLE, self._name, number, progress.batch, progress.generation)
        follow = progress.follow
        if follow is None:
            try:
                return self._dataset[index]
            finally:
                end(token)
        follow.enter(self._name, number, progress)  # one sample of a fetch is followed, the others are timed
        try:
            return self._dataset[index]
        finally:
            follow.leave()
            end(token)

    def _chosen(self, index, number):
        """Makes a sample and records its digests."""
        progress = self._progress
        generation = progress.generation
        token = begin(_SAMPLE, self._name, number, progress.batch, generation)
        state = digests.start()
        try:
            sample = self._dataset[index]
        finally:
            digests.stop(state)
            end(token)
        digests.finish(state, number, generation, sample)
        return sample

    @property
    def __getitems__(self):
        batched = self._dataset.__getitems__
        if not batched:
            return batched
        return self._one_by_one if self._split else functools.partial(self._all, batched)

    def _all(self, batched, indices):
        progress = self._progress
        follow = progress.follow
        token = begin(_SAMPLE, self._name, -1, progress.batch, progress.generation)
        if follow is not None:
            follow.enter(self._name, -1, progress)
        try:
            samples = batched(indices)
        finally:
            if follow is not None:
                follow.leave()
            end(token)
        digests.finish_all(indices, progress.generation, samples, sample_id)
        return samples

    def _one_by_one(self, indices):
        return [self._nested(index) if issubclass(type(index), list) else self[index] for index in indices]

    def _nested(self, index):
        """Does the same as Subset's __getitems__ for an index that is a list. Subset's __getitem__ would take the list
        apart."""
        subset, progress = self._dataset, self._progress
        token = begin(_SAMPLE, self._name, -1, progress.batch, progress.generation)
        try:
            return subset.dataset[subset.indices[index]]
        finally:
            end(token)

    def __getattr__(self, name):
        return getattr(self._dataset, name)

    def __len__(self):
        return len(self._dataset)


def next_sample(iterator, name, progress, sequence):
    """(token, sample) of an iterable dataset. The caller ends the sample's span by end(token, 0, 1), or cancels it.
    Samples are numbered as if the workers took turns. The 1 says that this number is no dataset index."""
    token = begin(
        _SAMPLE,
        name,
        sequence * progress.workers + progress.worker,
        progress.batch,
        progress.generation,
    )
    try:
        return token, next(iterator)
    except StopIteration:
        cancel(token)
        raise
    except BaseException:
        end(token, 0, 1)
        raise


def _tell_shards(progress):
    """Writes whether an iterable dataset asked which worker it is in before it gave its first sample."""
    if 0 < progress.generation <= _SHARD_FACTS:
        fact("epoch.%d.shards" % progress.generation, "true" if progress.asked else "false")


class _Stream:
    """The iterator of an iterable dataset.

    A dataset that makes its own batches (webdataset) counts its samples in `progress.inner`.
    """

    __slots__ = ("_iterator", "_progress", "_name", "_sequence", "_told")

    def __init__(self, iterator, progress, name):
        self._told = False
        self._iterator = iterator
        self._progress = progress
        self._name = name
        self._sequence = 0

    def __iter__(self):
        return self

    def __next__(self):
        progress = self._progress
        inner = progress.inner
        follow = progress.follow
        if follow is not None:
            follow.enter(self._name, self._sequence * progress.workers + progress.worker, progress)
        try:
            token, item = next_sample(self._iterator, self._name, progress, self._sequence)
        finally:
            if follow is not None:
                follow.leave()
            if not self._told:
                self._told = True
                _tell_shards(progress)
        if progress.inner != inner:
            cancel(token)
        else:
            end(token, 0, 1)
            self._sequence += 1
        return item

    def __getattr__(self, name):
        return getattr(self._iterator, name)


def _resumable(kind):
    """A subclass of `kind` for objects that save their state. The methods must be on the class, since a protocol looks
    for them there."""

    class Resumable(kind):
        __slots__ = ()

        def state_dict(self, *args, **kwargs):
            return self.__getattr__("state_dict")(*args, **kwargs)

        def load_state_dict(self, *args, **kwargs):
            return self.__getattr__("load_state_dict")(*args, **kwargs)

    return Resumable


_ResumableSamples, _ResumableStream = _resumable(_Samples), _resumable(_Stream)


def _saves(thing):
    return hasattr(thing, "state_dict") and hasattr(thing, "load_state_dict")


def _collating(function, progress):
    inner = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    name = intern(getattr(inner, "__name__", None) or type(inner).__name__)

    def collate(data):
        if progress.described is not None:
            torch_options.describe_samples(progress.described, data)
            progress.described = None
        token = begin(_COLLATE, name)
        unit = functions.enter(_COLLATE, name, -1, progress.batch, progress.generation)
        try:
            return function(data)
        finally:
            if unit is not None:
                functions.leave(unit)
            end(token)

    return collate


def _is_plain_subset(dataset):
    """Whether this is torch's Subset over a dataset that reads one sample at a time. Subset's __getitems__ is then a
    loop."""
    kind = type(dataset)
    if kind.__name__ != "Subset" or kind.__module__ != "torch.utils.data.dataset":
        return False
    return not callable(getattr(dataset.dataset, "__getitems__", None))


def instrument(fetcher, progress):
    """Replaces the dataset, iterator and collate function of `fetcher`; if one fails, none is replaced."""
    stream = getattr(fetcher, "dataset_iter", None)
    collate = _collating(fetcher.collate_fn, progress)
    if stream is not None:
        own = stream is fetcher.dataset
        kind = _ResumableStream if _saves(stream) else _Stream
        stream = kind(stream, progress, intern(type(fetcher.dataset).__name__))
        fetcher.dataset_iter = stream
        if own:  # if dataset and iterator are one object, torchdata saves one state
            fetcher.dataset = stream
    else:
        kind = _ResumableSamples if _saves(fetcher.dataset) else _Samples
        samples = kind(fetcher.dataset, progress, _is_plain_subset(fetcher.dataset))
        fetcher.dataset = samples
    fetcher.collate_fn = collate
    fetcher._penstock = progress
    digests.budget().begin(progress.generation)


def _make_create(original):
    def create_fetcher(*args, **kwargs):
        fetcher = original(*args, **kwargs)
        try:
            instrument(fetcher, local.progress or Progress(0, 0, 1))
        except Exception:
            pass
        return fetcher

    return create_fetcher


def _make_fetch(original):
    name = intern("fetch")

    def fetch(self, possibly_batched_index):
        try:
            progress = self._penstock
        except AttributeError:
            return original(self, possibly_batched_index)
        if probe.active:
            probe.begin(probe.MAKING)
        token = begin(_FETCH, name, -1, progress.batch, progress.generation)
        progress.follow = functions.plan(possibly_batched_index)
        began = perf_counter_ns()
        try:
            data = original(self, possibly_batched_index)
        except StopIteration:  # an iterable dataset has ended and gave no batch
            cancel(token)
            raise
        except BaseException:
            end(token)
            raise
        end(token)
        digests.budget().fetch(perf_counter_ns() - began)
        if probe.active:
            probe.settle(probe.MAKING)
        return data

    return fetch


def _make_get_worker_info(original):
    def get_worker_info():
        progress = local.progress
        if progress is not None and not progress.asked:
            asker = sys._getframe(1).f_globals.get("__name__")
            progress.asked = type(asker) is not str or not asker.startswith(_OTHER_ASKERS)
        return original()

    return get_worker_info


def _patch_worker_info(dataloader):
    worker = dataloader._utils.worker
    original = worker.get_worker_info
    replace(worker, "get_worker_info", _make_get_worker_info)
    for module in (dataloader, sys.modules.get("torch.utils.data")):  # these have imported the name already
        if module is not None and module.__dict__.get("get_worker_info") is original:
            module.get_worker_info = worker.get_worker_info


def patch(dataloader):
    """`dataloader`: the module torch.utils.data.dataloader."""
    _patch_worker_info(dataloader)
    fetchers = dataloader._utils.fetch
    for name in ("_MapDatasetFetcher", "_IterableDatasetFetcher"):
        replace(getattr(fetchers, name), "fetch", _make_fetch)
    replace(dataloader._DatasetKind, "create_fetcher", _make_create)
