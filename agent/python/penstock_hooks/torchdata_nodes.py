# SPDX-License-Identifier: Apache-2.0
"""torchdata.nodes: records the training loop over a Loader, and the work of the Loader's mappers in threads or
processes.

The function that workers run is replaced under its own name, so that a Process can pickle it by reference.
"""
from penstock_hooks.foreign import next_hook
from penstock_hooks.tasks import on_item
from penstock_hooks.wrapping import replace


def _graph(loader):
    """The nodes of a loader, from the training loop's end to the source."""
    node = getattr(loader, "root", None)
    for _ in range(32):
        if node is None:
            return
        yield node
        inner = getattr(node, "_it", None)  # a mapper of batches contains further nodes
        node = getattr(node, "source", None) or getattr(inner, "source", None)


def _facts(loader):
    workers = 0
    for node in _graph(loader):
        kind = type(node).__name__
        if kind == "Batcher":
            yield "batch_size", node.batch_size
            yield "drop_last", node.drop_last
        elif kind == "Prefetcher":
            yield "prefetch_factor", node.prefetch_factor
        elif kind == "ParallelMapper":
            workers += node.num_workers
            yield "in_order", node.in_order
            yield "start_method", node.method
    yield "num_workers", workers


def _make_reset(original):
    def reset(self, *args, **kwargs):
        loop = self.__dict__.pop("_penstock", None)
        if loop is not None:
            loop.finish()
        return original(self, *args, **kwargs)

    return reset


def _spanned(function):
    if type(function).__name__ == "MapOverBatch":
        return type(function)(map_fn=on_item(function.map_fn))
    return on_item(function)


def _make_apply(original):
    def _apply_udf(worker_id, in_q, out_q, udf, stop_event):
        try:
            udf = _spanned(udf)
        except Exception:
            pass
        return original(worker_id, in_q, out_q, udf, stop_event)

    return _apply_udf


def _make_inline(original):
    def __init__(self, *args, **kwargs):
        original(self, *args, **kwargs)
        try:
            self.map_fn = _spanned(self.map_fn)
        except Exception:
            pass

    return __init__


def patch(module):
    """`module`: torchdata.nodes.loader, .map or ._apply_udf, whichever was imported."""
    name = module.__name__.rpartition(".")[2]
    if name == "loader":
        kind = module.LoaderIterator
        replace(kind, "__next__", next_hook("torchdata.nodes", lambda iterator: iterator.loader, _facts))
        replace(kind, "reset", _make_reset)
    elif name == "map":
        replace(module._InlineMapperIter, "__init__", _make_inline)
    else:
        replace(module, "_apply_udf", _make_apply)
