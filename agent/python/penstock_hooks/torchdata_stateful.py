# SPDX-License-Identifier: Apache-2.0
"""torchdata's StatefulDataLoader: a copy of torch's DataLoader that sends a state with each batch.

Its iterators inherit next() from torch's iterators, so they have the hook on next() already. Their other methods are
copies of torch's, and get hooks of their own.
"""
import sys

from penstock_hooks import torch_loader, torch_worker


def patch(module):
    """`module`: torchdata.stateful_dataloader.worker or .stateful_dataloader, whichever was imported."""
    if module.__name__.endswith(".worker"):
        torch = sys.modules["torch.utils.data._utils.worker"]
        torch_worker.patch_loops(module, torch._IterableDatasetStopIteration)
    else:
        torch_loader.patch_stateful(module)
