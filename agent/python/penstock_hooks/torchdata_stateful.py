# SPDX-License-Identifier: Apache-2.0
"""torchdata's StatefulDataLoader: torch's DataLoader over again, with a state sent beside each batch.

Its iterators inherit next() from torch's and copy the rest; so do our hooks.
"""
import sys

from penstock_hooks import torch_loader, torch_worker


def patch(module):
    """torchdata.stateful_dataloader.worker or .stateful_dataloader, whichever has been imported."""
    if module.__name__.endswith(".worker"):
        torch = sys.modules["torch.utils.data._utils.worker"]
        torch_worker.patch_loops(module, torch._IterableDatasetStopIteration)
    else:
        torch_loader.patch_stateful(module)
