# SPDX-License-Identifier: Apache-2.0
"""fastai's DataLoader: it makes batches of its own samples and gives them to torch's iterators as a whole."""
from penstock_hooks import wire
from penstock_hooks.bridge import begin, end, intern
from penstock_hooks.torch_fetch import sample_id
from penstock_hooks.torch_state import local
from penstock_hooks.wrapping import TypeNames, replace, spanned

_names = TypeNames()


def _make_do_item(original):
    def do_item(self, index, *args, **kwargs):
        progress = local.progress
        if progress is None:
            return original(self, index, *args, **kwargs)
        name = _names[type(getattr(self, "dataset", None))]
        token = begin(wire.SAMPLE, name, sample_id(index), progress.batch, progress.generation)
        try:
            return original(self, index, *args, **kwargs)
        finally:
            end(token)
            progress.inner += 1

    return do_item


def patch(module):
    """`module`: fastai.data.load. Samples of a loader class that overrides do_item() are seen only if it calls this
    one."""
    replace(module.DataLoader, "do_item", _make_do_item)
    replace(module.DataLoader, "do_batch", spanned(wire.COLLATE, "fastai.do_batch"))
