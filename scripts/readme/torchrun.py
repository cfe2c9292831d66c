#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch.distributed.run, also where PyTorch was built without libuv.

From PyTorch 2.4 on torchrun meets its ranks through a store on libuv, which that of Debian 13 is built
without: there it ends before it starts a rank. Its ranks ask the environment (USE_LIBUV=0), it does not.
"""
import functools
import os

from torch.distributed import TCPStore
from torch.distributed.elastic.rendezvous import static_tcp_rendezvous
from torch.distributed.run import main

if __name__ == "__main__":
    if "use_libuv" in (TCPStore.__init__.__doc__ or ""):
        static_tcp_rendezvous.TCPStore = functools.partial(TCPStore, use_libuv=False)
        os.environ["USE_LIBUV"] = "0"
    main()
