# SPDX-License-Identifier: Apache-2.0
"""HTTP and object stores: http.client (urllib, urllib3, requests, botocore) and aiohttp (fsspec, s3fs, gcsfs).

Each host has two counters. http.connect_ns@HOST gets the time to open each connection, including name look-up and TLS.
http.first_byte_ns@HOST gets the time from the end of each request to the arrival of its answer's header. The transfer
of the body shows in the reads of the socket, which the agent sees.
"""
from functools import wraps
from threading import local
from time import perf_counter_ns

from penstock_hooks.bridge import counter, intern
from penstock_hooks.wrapping import replace

_CONNECT, _FIRST_BYTE = "http.connect_ns", "http.first_byte_ns"
_CONNECTIONS = ("HTTPConnection", "HTTPSConnection")
_MOST_HOSTS = 64  # the others share counters without a host
_STANDARD_PORTS = (None, 80, 443)
_NOWHERE = ("", None)  # if the host is not known
_hosts = {}  # (host, port) -> ids of the two counters
_state = local()


def _place_of(endpoint):
    """(host, port) of a connection or a URL. If a connection goes through a proxy's tunnel, the host and port of the
    target."""
    host, port = getattr(endpoint, "_tunnel_host", None), getattr(endpoint, "_tunnel_port", None)
    if not host:
        host, port = endpoint.host, endpoint.port
    if type(host) is not str or not 0 < len(host) <= 253 or type(port) not in (int, type(None)):
        return _NOWHERE
    return host, port


def _ids_of(place):
    """The ids of the counters of a host. Beyond _MOST_HOSTS, hosts share the counters without a host."""
    if len(_hosts) >= _MOST_HOSTS:
        place = _NOWHERE
    ids = _hosts.get(place)
    if ids is None:
        host, port = place
        name = "[%s]" % host if ":" in host and not host.startswith("[") else host
        text = name if port in _STANDARD_PORTS else "%s:%d" % (name, port)
        ids = _hosts[place] = {each: intern(each + "@" + text if text else each) for each in (_CONNECT, _FIRST_BYTE)}
    return ids


def _count(name, endpoint, nanoseconds):
    """Adds a value to a counter of the host of `endpoint`, a connection or a URL."""
    try:
        try:
            place = _place_of(endpoint)
        except Exception:
            place = _NOWHERE
        ids = _hosts.get(place) or _ids_of(place)
        counter(ids[name], nanoseconds)
    except Exception:
        pass


def _connecting(original):
    """For `replace`: times connect(). A connection with TLS may call the connect() of one without TLS, which is hooked
    too, so only the outer call counts."""

    def connect(self, *args, **kwargs):
        if getattr(_state, "connecting", False):
            return original(self, *args, **kwargs)
        _state.connecting = True
        began = perf_counter_ns()
        try:
            result = original(self, *args, **kwargs)
            _count(_CONNECT, self, perf_counter_ns() - began)
            return result
        finally:
            _state.connecting = False

    return connect


def _answered(original):
    def getresponse(self, *args, **kwargs):
        began = perf_counter_ns()
        result = original(self, *args, **kwargs)
        _count(_FIRST_BYTE, self, perf_counter_ns() - began)
        return result

    return getresponse


def _awaited(name, url_of):
    """For `replace`: adds the time of a coroutine function to a counter. Its host is that of
    url_of(self, first argument)."""

    def make(original):
        @wraps(original)
        async def timed(self, *args, **kwargs):
            began = perf_counter_ns()
            result = await original(self, *args, **kwargs)
            spent = perf_counter_ns() - began
            try:
                url = url_of(self, args[0] if args else None)
            except Exception:
                url = None
            _count(name, url, spent)
            return result

        return timed

    return make


def patch(module):
    name = module.__name__
    if name == "aiohttp.connector":
        replace(module.TCPConnector, "_create_connection", _awaited(_CONNECT, lambda _, request: request.url))
    elif name == "aiohttp.client_reqrep":
        replace(module.ClientResponse, "start", _awaited(_FIRST_BYTE, lambda response, _: response.url))
    else:
        for name_of_kind in _CONNECTIONS:
            kind = getattr(module, name_of_kind, None)  # a Python without ssl has no HTTPSConnection
            if kind is not None and "connect" in vars(kind):
                replace(kind, "connect", _connecting)
        if name == "http.client":  # connections of urllib3 call it too
            replace(module.HTTPConnection, "getresponse", _answered)
