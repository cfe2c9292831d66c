# SPDX-License-Identifier: Apache-2.0
"""Runs our patches after the import of a module, by a finder on sys.meta_path. __import__ is not
replaced.

The module's own loader object stays in place: its `exec_module` is shadowed on the instance for one
call, and the shadow is removed before the original runs, so `__loader__` and `__spec__.loader` are
what they would have been. Patches never import a module of the program, so the import locks held
meanwhile cannot deadlock.
"""
import sys

_FileLoader = sys.modules["_frozen_importlib_external"].FileLoader


def fire(names, module):
    """Runs the patches `names` on `module`. Swallows everything but KeyboardInterrupt and exit."""
    for name in names:
        try:
            full = "penstock_hooks." + name
            patcher = sys.modules.get(full)
            if patcher is None:
                __import__(full)
                patcher = sys.modules[full]
            patcher.patch(module)
        except Exception:
            pass


class _ProxyLoader:
    """Stands in for a loader whose instance is shared between modules (zip files, tools)."""

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
    """Shadows `exec_module` of this one loader for one call."""

    def exec_module(module):
        loader.__dict__.pop("exec_module", None)
        loader.exec_module(module)
        fire(names, module)

    loader.exec_module = exec_module


class Finder:
    """First on sys.meta_path. Returns None at once for any module that is not watched."""

    def __init__(self, watched):
        self._watched = watched
        self._searching = set()

    def find_spec(self, fullname, path=None, target=None):
        if fullname not in self._watched or fullname in self._searching:
            return None
        self._searching.add(fullname)
        try:
            spec = None
            for finder in list(sys.meta_path):
                find = getattr(finder, "find_spec", None)
                if finder is self or find is None:
                    continue
                spec = find(fullname, path, target)
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
    """Installs the finder for `watched` (module -> names of patches) and patches modules that are already there."""
    for finder in sys.meta_path:
        if type(finder).__name__ == "Finder" and type(finder).__module__ == __name__:
            return
    sys.meta_path.insert(0, Finder(watched))
    for name, names in watched.items():
        module = sys.modules.get(name)
        if module is not None:
            fire(names, module)
