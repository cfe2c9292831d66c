# SPDX-License-Identifier: Apache-2.0
"""Takes the rank of a process from its process group, since torch.multiprocessing.spawn and
home-made launchers set no variables that the agent could read."""
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
