# SPDX-License-Identifier: Apache-2.0
"""The rank of a process as its process group knows it: torch.multiprocessing.spawn, and launchers of
one's own, set no variables that the agent could read."""
from penstock_hooks.bridge import fact
from penstock_hooks.wrapping import replace


def patch(module):
    def make(original):
        def init_process_group(*args, **kwargs):
            result = original(*args, **kwargs)
            try:
                _tell(module)
            except Exception:
                pass
            return result

        return init_process_group

    replace(module, "init_process_group", make)


def _tell(module):
    rank, world = int(module.get_rank()), int(module.get_world_size())
    if rank >= 0 and world > 0:
        fact("rank.world_size", str(world))
        fact("rank.rank", str(rank))
