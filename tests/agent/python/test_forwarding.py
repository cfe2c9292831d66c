# SPDX-License-Identifier: Apache-2.0
"""Tests that the wrappers of penstock_hooks.forwarding behave like the functions that they wrap."""
import unittest

import harness

PROGRAM = """
    import inspect, sys
    from penstock_hooks.wrapping import replace, spanned
    from penstock_hooks.forwarding import like

    class Owner:
        def plain(self, a, b=2, *, c=3):
            return a, b, c
        def only(self, a, /, b):
            return a, b
        def listed(self, *items, **named):
            return items, named
        def clash(self, _name, _token=5):
            return _name, _token
        def hides(self, type, Exception=None, *, getattr=4):
            return type, Exception, getattr
        def fails(self):
            raise KeyError("x")

    signatures = {name: str(inspect.signature(getattr(Owner, name))) for name in vars(Owner) if name[0] != "_"}
    for name in signatures:
        replace(Owner, name, spanned(3, "Owner." + name))
        assert getattr(Owner, name).__name__ == name, name
        assert str(inspect.signature(getattr(Owner, name))) == signatures[name], name
    o = Owner()
    assert o.plain(1) == (1, 2, 3) and o.plain(1, c=4, b=5) == (1, 5, 4) and o.plain(a=7) == (7, 2, 3)
    assert o.only(1, b=2) == (1, 2)
    assert o.listed() == ((), {}) and o.listed(1) == ((1,), {}) and o.listed(1, 2, x=3) == ((1, 2), {"x": 3})
    assert o.clash(1) == (1, 5) and o.clash(1, _token=2) == (1, 2)
    assert o.hides(1) == (1, None, 4) and o.hides(type=2, getattr=3) == (2, None, 3)

    class Transform:
        def __call__(self, image, type=None):
            return image, type

    replace(Transform, "__call__", lambda f: like(f, "_kind = type(SELF).__name__; return CALL"))
    assert Transform()(1) == (1, None) and Transform()(1, type=2) == (1, 2)
    for call, message in ((lambda: o.plain(), "Owner.plain() missing 1 required positional argument: 'a'"),
                          (lambda: o.only(a=1, b=2), "Owner.only()")):
        try:
            call()
        except TypeError as error:
            assert str(error).startswith(message) or sys.version_info < (3, 10), error
        else:
            raise AssertionError(message)
    try:
        o.fails()
    except KeyError:
        pass

    class Module:
        def __call__(self, *items, **named):
            return items, named
    Module.__call__ = like(Module.__call__, "SELF.calls = getattr(SELF, 'calls', 0) + 1\\nreturn CALL")
    m = Module()
    assert m() == ((), {}) and m(None) == ((None,), {}) and m(1, 2) == ((1, 2), {})
    assert m(one=1) == ((), {"one": 1}) and m(1, args=2) == ((1,), {"args": 2})
    assert m.calls == 5
    print("as before")
"""

BUILTIN = """
    import copy, inspect, math, pickle
    plain = math.gcd, repr(math.gcd), str(inspect.signature(math.isfinite))
    from penstock_hooks.transforms import adopt
    from penstock_hooks.wrapping import is_ours, replace, spanned
    for name in ("gcd", "isfinite"):
        replace(math, name, spanned(2, name))
    adopt(type(math.gcd))  # as for a part of a composition
    assert is_ours(math.gcd) and math.gcd is not plain[0]

    class Program:
        divisor = math.gcd

    print(Program().divisor(4, 6), Program.divisor(8, 12), math.gcd(3, 9), math.isfinite(1.0))
    assert repr(math.gcd) == plain[1] and math.gcd.__name__ == "gcd" and math.gcd.__doc__ == plain[0].__doc__
    assert pickle.loads(pickle.dumps(math.gcd)) is math.gcd and copy.deepcopy(math.gcd) is math.gcd
    assert str(inspect.signature(math.isfinite)) == plain[2]
    try:
        math.gcd(1.5)
    except TypeError as error:
        print(error)
"""

WARNS = """
    import types
    from penstock_hooks.wrapping import replace, spanned

    library = types.ModuleType("library")
    code = "import warnings\\ndef old(%s):\\n    warnings.warn('old', DeprecationWarning, stacklevel=2)\\n"
    for parameters in ("", "*items"):
        exec(code % parameters, library.__dict__)
        replace(library, "old", spanned(2, "old"))
        library.old()
"""

STEPS = """
    import types, weakref
    from penstock_hooks.wrapping import replace, stepped

    class Item:
        pass

    def items(count):
        for _ in range(count):
            item = Item()
            known = weakref.ref(item)
            yield item
            del item
            print(known() is None)

    owner = types.SimpleNamespace(items=items)
    replace(owner, "items", stepped(2, "items", lambda item: 3))
    for item in owner.items(2):
        del item
"""

PYTHON_3_7 = """
    import ast, sys
    import penstock_hooks.bridge
    real, sys.version_info = sys.version_info, (3, 7, 17)
    from penstock_hooks import forwarding
    sys.version_info = real

    def compiled(source, *others):
        if sys.version_info >= (3, 8):
            ast.parse(source, feature_version=(3, 7))
        return compile(source, *others)

    forwarding.compile = compiled

    class Module:
        def __call__(self, *items, **named):
            return items, named
    Module.__call__ = forwarding.like(Module.__call__, "SELF.called = True\\nreturn CALL")
    m = Module()
    print(m(), m(None), m(1, 2), m(one=1), m(1, args=2), m.called)
"""

class Forwarding(unittest.TestCase):
    def test_wrappers_take_and_give_what_the_original_does(self):
        run = harness.run(PROGRAM)
        self.assertEqual((run.status, run.out.strip()), (0, "as before"), run.err)

    def test_a_builtin_of_a_module_does_not_become_a_method(self):
        run = harness.run(BUILTIN)
        self.assertEqual((run.status, run.err), (0, ""))
        self.assertEqual(run.out, "2 4 3 True\n'float' object cannot be interpreted as an integer\n")
        self.assertEqual([span["name"] for span in run.of("span")], ["gcd"] * 3 + ["isfinite", "gcd"])

    def test_a_warning_of_the_original_is_of_the_programs_line(self):
        run = harness.run(WARNS)
        self.assertEqual((run.status, len(run.spans("decode"))), (0, 2))
        self.assertRegex(run.err, r"program\.py:\d+: DeprecationWarning: old\n  library\.old\(\)\n")

    def test_an_item_of_a_generator_is_not_held_while_the_next_one_is_made(self):
        run = harness.run(STEPS)
        self.assertEqual((run.status, run.out, run.err), (0, "True\nTrue\n", ""))
        self.assertEqual([span["bytes"] for span in run.spans("decode")], [3, 3, 0])

    def test_wrappers_for_3_7_have_its_syntax(self):
        run = harness.run(PYTHON_3_7)
        self.assertEqual(run.err, "")
        self.assertEqual(run.out, "((), {}) ((None,), {}) ((1, 2), {}) ((), {'one': 1}) ((1,), {'args': 2}) True\n")


if __name__ == "__main__":
    unittest.main()
