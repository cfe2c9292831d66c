#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs torch.distributed.run, also if PyTorch was built without libuv.

From PyTorch 2.4 on, torchrun and its ranks find each other through a store (TCPStore) that uses libuv. Debian
13's PyTorch is built without libuv, so its torchrun fails before it starts a rank. Here torchrun's store does
not use libuv. USE_LIBUV=0 in the environment keeps the ranks' store from using it.
"""
import os

from torch.distributed import TCPStore
from torch.distributed.elastic.rendezvous import static_tcp_rendezvous as static
from torch.distributed.run import main


def store(host, port, *rest, **named):
    """Makes the store that torchrun itself uses, for one host. It takes any free port; `port` is the ranks' store's."""
    del port
    return TCPStore(host, 0, *rest, use_libuv=False, **named)


if __name__ == "__main__":
    if "use_libuv" in (TCPStore.__init__.__doc__ or ""):
        os.environ["USE_LIBUV"] = "0"
        static.TCPStore = store
        static.StaticTCPRendezvous.use_agent_store = False
    main()
