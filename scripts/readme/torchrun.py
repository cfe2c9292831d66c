#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch.distributed.run, also where PyTorch was built without libuv.

From PyTorch 2.4 on torchrun and its ranks meet in a store on libuv, which that of Debian 13 is built
without: there torchrun ends before it starts a rank. Here its store does without, and its ranks have one
of their own, for which they ask the environment (USE_LIBUV=0).
"""
import os

from torch.distributed import TCPStore
from torch.distributed.elastic.rendezvous import static_tcp_rendezvous as static
from torch.distributed.run import main


def store(host, port, *rest, **named):
    """Of torchrun alone, for one host: on any port, for the ranks' own is on `port`."""
    del port
    return TCPStore(host, 0, *rest, use_libuv=False, **named)


if __name__ == "__main__":
    if "use_libuv" in (TCPStore.__init__.__doc__ or ""):
        os.environ["USE_LIBUV"] = "0"
        static.TCPStore = store
        static.StaticTCPRendezvous.use_agent_store = False
    main()
