# SPDX-License-Identifier: Apache-2.0
"""HTTP and object stores: http.client (urllib, urllib3, requests, botocore) and aiohttp (fsspec, s3fs, gcsfs).

Two counters get a value for each case: the time to open a connection (with name look-up and TLS),
and the time from the end of a request to the first byte of its answer. The transfer itself is in
the reads of the socket, which the agent sees.
"""
from functools import wraps
from threading import local
from time import perf_counter_ns

from penstock_hooks.bridge import counter, intern
from penstock_hooks.wrapping import replace

_CONNECT, _FIRST_BYTE = intern("http.connect_ns"), intern("http.first_byte_ns")
_CONNECTIONS = ("HTTPConnection", "HTTPSConnection")
_state = local()


def _connecting(original):
    """For `replace`: times connect(). A connection with TLS first opens one without TLS. In some libraries the same
    method does both, so only the outer call counts."""

    def connect(self, *args, **kwargs):
        if getattr(_state, "connecting", False):
            return original(self, *args, **kwargs)
        _state.connecting = True
        began = perf_counter_ns()
        try:
            result = original(self, *args, **kwargs)
            counter(_CONNECT, perf_counter_ns() - began)
            return result
        finally:
            _state.connecting = False

    return connect


def _answered(original):
    def getresponse(self, *args, **kwargs):
        began = perf_counter_ns()
        result = original(self, *args, **kwargs)
        counter(_FIRST_BYTE, perf_counter_ns() - began)
        return result

    return getresponse


def _awaited(name):
    """For `replace`: adds the time of a coroutine function to the counter `name`."""

    def make(original):
        @wraps(original)
        async def timed(self, *args, **kwargs):
            began = perf_counter_ns()
            result = await original(self, *args, **kwargs)
            counter(name, perf_counter_ns() - began)
            return result

        return timed

    return make


def patch(module):
    name = module.__name__
    if name == "aiohttp.connector":
        replace(module.TCPConnector, "_create_connection", _awaited(_CONNECT))
    elif name == "aiohttp.client_reqrep":
        replace(module.ClientResponse, "start", _awaited(_FIRST_BYTE))
    else:
        for kind in _CONNECTIONS:
            if "connect" in vars(getattr(module, kind)):
                replace(getattr(module, kind), "connect", _connecting)
        if name == "http.client":  # connections of urllib3 call it too
            replace(module.HTTPConnection, "getresponse", _answered)
