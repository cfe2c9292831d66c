# SPDX-License-Identifier: Apache-2.0
"""Runs our patches right after a watched module was executed. A finder on sys.meta_path does this; __import__ is not
replaced.

A loader of files is made for one module only, so it stays in place: an attribute of the instance shadows its
`exec_module` for one call. Any other loader may serve several modules, so a proxy replaces it for one module. Shadow
and proxy are removed before the original exec_module() runs, so the module sees the same `__loader__` and
`__spec__.loader` as without us. Patches never import a module of the program, so the import locks held meanwhile cannot
deadlock.
"""
import sys

_FileLoader = sys.modules["_frozen_importlib_external"].FileLoader
# The function by which Python up to 3.11 asks a finder that has only find_module(). Later versions skip such finders.
_find_by_module = getattr(sys.modules["_frozen_importlib"], "_find_spec_legacy", None)


def fire(names, module):
    """Calls patch(module) of the modules `names` of this package. If one of them fails, the others still run. Only
    KeyboardInterrupt, SystemExit and their like are raised."""
    for name in names:
        try:
            full = "penstock_hooks." + name
            patcher = sys.modules.get(full)
            if patcher is None:
                _import(full)
                patcher = sys.modules[full]
            patcher.patch(module)
        except Exception:
            pass


def _import(name):
    """Imports a module of this package. Its byte code is written even if the program's own is not (python -B), unless
    another thread might import a module of the program meanwhile."""
    silent = sys.dont_write_bytecode
    if silent and getattr(sys, "pycache_prefix", None) is None and len(sys._current_frames()) == 1:
        sys.dont_write_bytecode = False
    try:
        __import__(name)
    finally:
        sys.dont_write_bytecode = silent


class _ProxyLoader:
    """Replaces a loader that may serve several modules (a loader of zip files, or of a tool), until the watched module
    is executed."""

    def __init__(self, loader, spec, names):
        self._loader = loader
        self._spec = spec
        self._names = names

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        create = getattr(self._loader, "create_module", None)
        return create(spec) if create is not None else None

    def exec_module(self, module):
        self._spec.loader = self._loader
        try:
            module.__loader__ = self._loader
            module.__spec__.loader = self._loader
        except Exception:
            pass
        self._loader.exec_module(module)
        fire(self._names, sys.modules.get(module.__name__, module))


def _shadow(loader, names):
    """Shadows the loader's exec_module() for one call, which executes the module and then calls the patches `names`."""

    def exec_module(module):
        loader.__dict__.pop("exec_module", None)
        loader.exec_module(module)
        fire(names, module)

    loader.exec_module = exec_module


class Finder:
    """First on sys.meta_path. Asks the other finders for a watched module, and makes the loader that they return run
    the patches. Returns None at once for any other module."""

    def __init__(self, watched):
        self._watched = watched
        self._searching = set()  # names that are being looked up, since another finder may ask all finders again

    def find_spec(self, fullname, path=None, target=None):
        if fullname not in self._watched or fullname in self._searching:
            return None
        self._searching.add(fullname)
        try:
            spec = None
            for finder in list(sys.meta_path):
                find = getattr(finder, "find_spec", None)
                if finder is self:
                    continue
                if find is not None:
                    spec = find(fullname, path, target)
                elif _find_by_module is not None:
                    spec = _find_by_module(finder, fullname, path)
                if spec is not None:
                    break
        finally:
            self._searching.discard(fullname)
        if spec is not None:
            try:
                self._arm(spec, self._watched[fullname])
            except Exception:
                pass
        return spec

    def _arm(self, spec, names):
        loader = spec.loader
        if loader is None or not hasattr(loader, "exec_module"):
            return
        if isinstance(loader, _FileLoader) and hasattr(loader, "__dict__"):
            _shadow(loader, names)
        else:
            spec.loader = _ProxyLoader(loader, spec, names)


def watch(watched):
    """Installs the finder for `watched` (module -> names of patches) and patches modules that are already there.
    Does nothing if a finder is already there, even one of another copy of this module."""
    for finder in sys.meta_path:
        if type(finder).__name__ == "Finder" and type(finder).__module__ == __name__:
            return
    sys.meta_path.insert(0, Finder(watched))
    for name, names in watched.items():
        module = sys.modules.get(name)
        if module is not None:
            fire(names, module)
