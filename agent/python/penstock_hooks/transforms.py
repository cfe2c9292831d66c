# SPDX-License-Identifier: Apache-2.0
"""torchvision.transforms (v1, v2) and albumentations: one `augment` span per named transform.

`__call__` of a class is patched, never `forward`, since torch.jit.script compiles `forward` from
its source. One method serves all subclasses of its class; the span has the name of type(self).
"""
import functools
import inspect
import sys

from penstock_hooks import wire
from penstock_hooks.forwarding import like, shared
from penstock_hooks.wrapping import TypeNames, is_ours, payload_bytes, replace, spanned

_AUGMENT = wire.AUGMENT
_names = TypeNames()
_seen = set()  # classes that adopt() has seen
shared.update(_augment=_AUGMENT, _names=_names, _seen=_seen)


def _compiling():
    """torch.compiler.is_compiling(). Dynamo replaces the call by True, so code that it compiles never calls our
    builtins."""
    compiler = getattr(sys.modules.get("torch"), "compiler", None)
    return getattr(compiler, "is_compiling", None)


_SPAN = """
_kind = type(SELF)
_token = _begin(_augment, _names[_kind])
_trail = _enter(_kind) if _chosen else None
try:
    if _trail is None:
        return CALL
    _result = CALL
    _leave(_trail, _names[_kind], _result)
    return _result
finally:
    _end(_token)
"""
# Statements for a composition, which may hold classes of the program.
_ADOPTING = """
try:
    for _part in SELF.transforms:
        if type(_part) not in _seen:
            _adopt(type(_part))
except Exception:
    pass
"""
_COMPILED = """
if _compiling():
    return CALL
"""


def _wrap(original, body, **closed):
    compiling = _compiling()
    if compiling is not None:
        body = _COMPILED.strip("\n") + body
        closed["_compiling"] = compiling
    return like(original, body, **closed)


def _make_call(base, original):
    return _wrap(original, _SPAN) if base is None else _wrap(original, _SPAN.replace("CALL", "LATE"), _base=base)


def _is_of_torch(kind):
    return kind.__module__.partition(".")[0] == "torch"


def adopt(kind):
    """Puts spans around the calls of a class of transforms, if it is a Python class that has none yet."""
    if kind in _seen:
        return
    _seen.add(kind)
    try:
        call = kind.__call__
        if not inspect.isfunction(call) or is_ours(call):  # inherited from a class with spans
            return
        if _is_of_torch(kind):  # nn.Sequential and its like are models
            return
        base = next(each for each in kind.__mro__ if "__call__" in each.__dict__)
        # torch.fx temporarily replaces nn.Module's __call__. A class that inherits __call__ must then call the
        # replacement.
        replace(kind, "__call__", functools.partial(_make_call, base if _is_of_torch(base) else None))
    except Exception:
        pass


shared["_adopt"] = adopt


def _adopt_contents(compose):
    """Whenever an object of the composition class `compose` is called, it will first put spans on the program's own
    classes of transforms that it holds."""
    if "_penstock_adopts" in compose.__dict__:
        return
    call = compose.__call__
    spanned_already = getattr(call, "__wrapped__", None) if is_ours(call) else None
    # If the class has a span of its own, one wrapper makes the span and adopts. If it inherits its span, the inherited
    # wrapper makes it.
    if spanned_already is not None and "__call__" in compose.__dict__:
        wrapper = _wrap(spanned_already, _ADOPTING + _SPAN.lstrip("\n"))
        call = spanned_already
    else:
        wrapper = _wrap(call, _ADOPTING + "return CALL")
    functools.update_wrapper(wrapper, call)
    wrapper.__penstock__ = True
    compose.__call__ = wrapper
    compose._penstock_adopts = True


def _patch_v1(module):
    for name in getattr(module, "__all__", ()):
        kind = getattr(module, name, None)
        if isinstance(kind, type) and kind.__module__ == module.__name__:
            adopt(kind)
    if "Compose" in vars(module):
        _adopt_contents(module.Compose)


def _patch_albumentations(module):
    """`module`: transforms_interface (BasicTransform) or composition (Compose, OneOf and their like)."""
    for kind in list(vars(module).values()):
        if isinstance(kind, type) and kind.__module__ == module.__name__ and "__call__" in kind.__dict__:
            adopt(kind)


def patch(module):
    name = module.__name__
    if name.startswith("albumentations"):
        _patch_albumentations(module)
    elif name == "torchvision.transforms.v2._transform":
        adopt(module.Transform)
    elif name == "torchvision.transforms.v2._container":
        _adopt_contents(module.Compose)
    elif name == "torchvision.io.image":
        _patch_io(module)
    else:
        _patch_v1(module)


def _scriptable(make):
    """For `replace`: makes torch.jit.script and dynamo compile the original instead of the wrapper, by the attributes
    that torch.jit.script_if_tracing sets. The wrapper could not be compiled: it has the globals of forwarding.py, not
    those of the original."""

    def make_scriptable(original):
        wrapper = make(original)
        wrapper.__original_fn = original
        wrapper.__script_if_tracing_wrapper = True
        return wrapper

    return make_scriptable


def _patch_io(module):
    for name in list(vars(module)):
        if name.startswith("decode_") or name == "read_image":
            make = spanned(wire.DECODE, "torchvision." + name, payload_bytes)
            replace(module, name, _scriptable(make))
    package = sys.modules.get("torchvision.io")
    if package is not None:  # the package may have imported the names
        for name in list(vars(package)):
            if name.startswith("decode_") or name == "read_image":
                patched = getattr(module, name, None)
                if patched is not None and is_ours(patched):
                    setattr(package, name, patched)
