# SPDX-License-Identifier: Apache-2.0
"""Loaders that work in threads of their own, in C++ or compiled: NVIDIA DALI, TensorFlow's tf.data, SPDL, FFCV.

The hooks here record the training loop. Other hooks of the agent record the loaders' work: reads in any thread, the
NVTX ranges by which DALI names its operators, and FFCV's calls of libturbojpeg and OpenCV. SPDL's steps are Python
functions in a thread pool, which this module wraps.
"""
import sys

from penstock_hooks import wire
from penstock_hooks.bridge import begin, end, intern
from penstock_hooks.foreign import next_hook, open_loop
from penstock_hooks.tasks import on_item
from penstock_hooks.torch_state import local
from penstock_hooks.wrapping import replace

_NO_LOOP = object()  # something other than the training loop asks for a batch


def _dali_facts(pipeline):
    yield "batch_size", getattr(pipeline, "max_batch_size", None)
    yield "num_workers", getattr(pipeline, "num_threads", None)
    yield "prefetch_factor", getattr(pipeline, "prefetch_queue_depth", None)
    yield "start_method", "thread"


def _dali_pipeline(iterator):
    """The first pipeline of an iterator. Its settings are recorded for all of the iterator's pipelines."""
    pipelines = getattr(iterator, "_pipes", None) or getattr(iterator, "_pipelines", None)
    return pipelines[0] if isinstance(pipelines, (list, tuple)) and pipelines else iterator


def _make_run(original):
    """Hooks for programs that ask the pipeline itself for batches."""

    def run(self, *args, **kwargs):
        loop = getattr(self, "_penstock", None)
        if loop is None or loop.ended:
            loop = open_loop(self, "nvidia.dali", None, _dali_facts)
            if loop is None:
                return original(self, *args, **kwargs)
        return loop.take(original, self, *args, **kwargs)

    return run


def _make_iterator_init(original):
    """For `replace`: the iterator's __init__ takes the first batch, to learn the shape of batches. The first next()
    gives that batch to the loop. The wait for it is start-up, not a wait of the loop."""

    def __init__(self, *args, **kwargs):
        outer = local.waiting
        token = begin(wire.STARTUP, intern(type(self).__name__))
        local.waiting = _NO_LOOP
        try:
            return original(self, *args, **kwargs)
        finally:
            local.waiting = outer
            end(token)

    return __init__


def _patch_dali(module):
    if module.__name__ == "nvidia.dali.pipeline":
        replace(module.Pipeline, "run", _make_run)
        return
    for name in ("DALIGenericIterator", "DALIRaggedIterator", "DALIClassificationIterator"):
        kind = getattr(module, name, None)
        if kind is not None and "__next__" in kind.__dict__:
            replace(kind, "__init__", _make_iterator_init)
            replace(kind, "__next__", next_hook("nvidia.dali", _dali_pipeline, _dali_facts))


def _tensorflow_dataset(iterator):
    dataset = getattr(iterator, "_dataset", None)
    return iterator if dataset is None else dataset


def _eager():
    """False while tf.function traces the training loop, which then gets no batches."""
    context = sys.modules.get("tensorflow.python.eager.context")
    return context is None or context.executing_eagerly()


def _ffcv_facts(loader):
    yield "batch_size", loader.batch_size
    yield "drop_last", loader.drop_last
    yield "num_workers", loader.num_workers  # threads that share a batch
    yield "prefetch_factor", loader.batches_ahead
    yield "start_method", "thread"


def _make_to_async(original):
    def _to_async(func, executor, *args, **kwargs):
        try:  # a pool that isolates its workers gets the original, since our wrapper cannot be pickled
            if not sys.modules[original.__module__]._is_isolating_pool(executor):
                func = on_item(func)
        except Exception:
            pass
        return original(func, executor, *args, **kwargs)

    return _to_async


def patch(module):
    name = module.__name__
    if name.startswith("nvidia.dali"):
        _patch_dali(module)
    elif name.startswith("tensorflow"):
        replace(module.OwnedIterator, "__next__", next_hook("tensorflow", _tensorflow_dataset, applies=_eager))
    elif name == "ffcv.loader.epoch_iterator":
        replace(module.EpochIterator, "__next__", next_hook("ffcv", lambda iterator: iterator.loader, _ffcv_facts))
    elif name == "spdl.pipeline._pipeline":
        replace(module.PipelineIterator, "__next__", next_hook("spdl", lambda iterator: iterator._pipeline))
    else:
        replace(module, "_to_async", _make_to_async)
