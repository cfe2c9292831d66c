# SPDX-License-Identifier: Apache-2.0
"""fastai's DataLoader: torch's iterators get whole batches of it, which it makes of samples of its own."""
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
    """fastai.data.load. A class of loaders that has a do_item() of its own calls this one or is not seen."""
    replace(module.DataLoader, "do_item", _make_do_item)
    replace(module.DataLoader, "do_batch", spanned(wire.COLLATE, "fastai.do_batch"))
