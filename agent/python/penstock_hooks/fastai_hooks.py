# SPDX-License-Identifier: Apache-2.0
"""fastai's DataLoader. It makes whole batches itself, and torch's iterators take them like the items of an iterable
dataset. So the hooks on torch see no samples; this module writes the samples' spans.
"""
from penstock_hooks import wire
from penstock_hooks.bridge import begin, end, intern
from penstock_hooks.torch_fetch import sample_id
from penstock_hooks.torch_state import local
from penstock_hooks.wrapping import TypeNames, replace, spanned

_names = TypeNames()


def _make_do_item(original):
    """For `replace`: do_item() with a span `sample`. Outside of a fetch of torch's iterators, the original runs without
    a span."""

    def do_item(self, *args, **kwargs):  # fastai names the parameter `s`, and passes it by position
        progress = local.progress
        if progress is None:
            return original(self, *args, **kwargs)
        name = _names[type(getattr(self, "dataset", None))]
        number = sample_id(args[0]) if args else sample_id(kwargs.get("s"))
        token = begin(wire.SAMPLE, name, number, progress.batch, progress.generation)
        try:
            return original(self, *args, **kwargs)
        finally:
            end(token)
            progress.inner += 1  # so that the fetch writes no sample of its own for the whole batch

    return do_item


def patch(module):
    """`module`: fastai.data.load. If a subclass of its DataLoader overrides do_item(), samples are seen only where
    the override calls the original."""
    replace(module.DataLoader, "do_item", _make_do_item)
    replace(module.DataLoader, "do_batch", spanned(wire.COLLATE, "fastai.do_batch"))
