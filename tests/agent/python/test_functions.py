# SPDX-License-Identifier: Apache-2.0
"""Tests when functions.py follows calls: how much time it may take, and which units of work (samples, batches, steps)
it follows first. Agent and clock are fake."""
import os
import subprocess
import sys
import threading
import types
import unittest

import harness

sys.path.insert(0, harness.AGENT)


class FakeAgent:
    """A fake agent. The test sets its clock, and what following a unit costs."""

    def __init__(self):
        self.time = 10**9
        self.facts = {}
        self.cost = 100000
        self.state = 0
        self.begun = []
        self.hot = None
        self.slow = []  # indices that the agent has noted
        self.above = []
        self.duration = 2000000
        self.follow = {
            "follow_begin": self.begin, "follow_stop": lambda displaced: self.state, "follow_fact": self.number,
            "follow_hot": lambda i: self.hot, "follow_finish": lambda *costs: self.cost,
            "follow_forget": lambda: None, "slow_share": lambda: None, "slow_above": self.above.append,
            "slow_count": lambda: len(self.slow), "slow_sample": lambda i: self.slow[i],
        }  # fmt: skip

    def begin(self, *arguments):
        self.begun.append(arguments)
        return 1

    def number(self, i):
        return (self.duration, 10, 10, 0, 0, 1)[i]


def load(agent):
    """Imports functions.py anew, with the functions of `agent`."""
    for name in ("functions", "follow_costs", "monitoring", "slow_samples", "bridge"):
        sys.modules.pop("penstock_hooks." + name, None)
    bridge = types.ModuleType("penstock_hooks.bridge")
    bridge.follow = agent.follow
    bridge.now = lambda: agent.time
    bridge.recording = lambda: True
    bridge.fact = agent.facts.__setitem__
    sys.modules["penstock_hooks.bridge"] = bridge
    import penstock_hooks

    penstock_hooks.__dict__.pop("functions", None)
    from penstock_hooks import functions

    functions.perf_counter_ns = lambda: agent.time
    functions.Monitor = lambda: None  # as on Python before 3.12, which has no sys.monitoring

    class Costs:
        function = builtin = line = 20 * 256
        spread, toggle, code = 10, 1000, 0

        def __init__(self, monitor):
            agent.time += 1000000

        def events(self):
            return self.function, self.builtin, self.line

    functions.Costs = Costs
    return functions


def range_list(first):
    return [first, first + 1, first + 2, first + 3]


class MonitorTest(unittest.TestCase):
    def test_a_tool_that_takes_the_id_first_keeps_it(self):
        agent = FakeAgent()
        callbacks = ("on_function", "on_return", "on_builtin", "on_builtin_return", "on_line")
        agent.follow.update(dict.fromkeys(callbacks))
        load(agent)
        for name in ("functions", "monitoring", "bridge"):
            self.addCleanup(sys.modules.pop, "penstock_hooks." + name, None)
        from penstock_hooks import monitoring

        def use(tool, name):
            raise ValueError("tool %d is already in use" % tool)

        names = "PY_START PY_RESUME PY_THROW PY_RETURN PY_YIELD PY_UNWIND CALL C_RETURN C_RAISE LINE".split()
        changed = []
        monitoring.sys = types.SimpleNamespace(monitoring=types.SimpleNamespace(
            events=types.SimpleNamespace(**dict.fromkeys(names, 1)), get_tool=lambda tool: None, use_tool_id=use,
            set_events=lambda *change: changed.append(change), free_tool_id=changed.append,
            register_callback=lambda *change: changed.append(change)))  # fmt: skip
        with self.assertRaises(ValueError):
            monitoring.Monitor().begin((), ())
        self.assertEqual(changed, [])


class FunctionsTest(unittest.TestCase):
    def setUp(self):
        self.agent = FakeAgent()
        self.functions = load(self.agent)
        self.addCleanup(sys.modules.pop, "penstock_hooks.functions", None)
        self.addCleanup(sys.modules.pop, "penstock_hooks.bridge", None)
        tracer, profiler = sys.gettrace(), sys.getprofile()
        if tracer is not None or profiler is not None:
            self.skipTest("this test is being traced itself")

    def unit(self, stage, length=2000000):
        entered = self.functions.enter(stage, 1, 5, 0, 1)
        self.agent.time += length
        followed = type(entered).__name__ == "_Followed"
        if entered is not None:
            self.functions.leave(entered)
        return followed

    def run_units(self, stages, count):
        return [stage for _ in range(count) for stage in stages if self.unit(stage)]

    def test_the_first_units_are_ordinary_and_the_budget_holds_at_every_moment(self):
        kind = self.functions._SAMPLE
        followed = [self.unit(kind) for _ in range(30000)]
        self.assertNotIn(True, followed[:16])
        here = self.functions._current
        self.assertGreater(here.units, 10)
        age = self.agent.time - here.began
        self.assertLess(here.spent, age / 500 + 2 * self.agent.cost)
        self.assertGreater(here.spent, age / 5000)
        ordinary, neighbours = self.agent.begun[0][5:7]
        self.assertEqual(2000000, ordinary)
        self.assertGreaterEqual(neighbours, 16)

    def test_a_unit_may_see_no_more_events_than_the_budget_has_left(self):
        self.run_units([self.functions._SAMPLE], 5000)
        for arguments in self.agent.begun:
            events, ticks = arguments[7:9]
            age = 5000 * 2000000 + 10**7
            self.assertLessEqual(events * 20, age / 500)
            self.assertLessEqual(ticks, age / 500 / 0.5)

    def test_units_get_rarer_as_the_process_gets_older(self):
        self.agent.cost = 10
        for _ in range(200000):
            self.unit(self.functions._SAMPLE, 20000000)
        here = self.functions._current
        self.assertLess(here.units, 2500)  # in 4,000 s
        self.assertGreater(here.units, 500)

    def test_samples_are_not_starved_by_cheap_collated_batches(self):
        functions = self.functions
        followed = self.run_units([functions._SAMPLE, functions._COLLATE], 20000)
        self.assertGreater(followed.count(functions._SAMPLE), 20)
        self.assertGreater(followed.count(functions._COLLATE), 5)
        kinds = functions._current.kinds
        self.assertGreater(kinds[functions._SAMPLE].spent, kinds[functions._COLLATE].spent)

    def test_lines_are_followed_in_every_second_unit_once_a_function_is_known(self):
        self.agent.hot = self.setUp.__func__.__code__
        self.run_units([self.functions._SAMPLE], 20000)
        with_lines = [len(arguments) > 11 for arguments in self.agent.begun]
        self.assertEqual([False, True, False, True, False, True], with_lines[:6])

    def test_a_tool_of_the_program_ends_it_for_good(self):
        sys.setprofile(lambda *_: None)
        try:
            self.assertEqual([], self.run_units([self.functions._SAMPLE], 3000))
        finally:
            sys.setprofile(None)
        self.assertEqual([], self.run_units([self.functions._SAMPLE], 3000))
        self.assertIn("profiler", self.agent.facts["functions.off"])

    def test_that_it_is_switched_off_is_told(self):
        os.environ["PENSTOCK_FUNCTIONS"] = "off"
        try:
            self.assertEqual([], self.run_units([self.functions._SAMPLE], 100))
        finally:
            del os.environ["PENSTOCK_FUNCTIONS"]
        self.assertEqual({"functions.off": "switched off"}, self.agent.facts)

    def test_a_unit_in_which_a_tool_came_is_the_last(self):
        self.agent.state = 2
        self.assertEqual(1, len(self.run_units([self.functions._SAMPLE], 3000)))
        self.assertIn("tool", self.agent.facts["functions.off"])

    def test_steps_of_a_program_that_compiles_are_left_alone(self):
        for name in ("convert_frame", "utils", "eval_frame"):
            module = sys.modules["torch._dynamo." + name] = types.ModuleType(name)
            module.counters = {"frames": {"total": 1}}
            self.addCleanup(sys.modules.pop, "torch._dynamo." + name, None)
        self.assertEqual([], self.run_units([self.functions._STEP], 3000))
        self.assertGreater(len(self.run_units([self.functions._SAMPLE], 3000)), 0)

    def fetch(self, indices, slow=()):
        """Makes the samples of one fetch as torch_fetch.py does. Returns those that were followed."""
        progress = types.SimpleNamespace(batch=0, generation=2)
        batch, followed = self.functions.plan(indices), []
        for index in indices:
            length = 20000000 if index in slow else 2000000
            if batch is not None:
                batch.enter(1, index, progress)
            self.agent.duration = length
            self.agent.time += length
            if batch is not None:
                if type(batch.unit).__name__ == "_Followed":
                    followed.append(index)
                batch.leave()
        return followed

    def run_fetches(self, count, slow=()):
        return [index for i in range(count) for index in self.fetch(range_list(4 * i % 400), slow)]

    def chosen(self):
        return [arguments[2] for arguments in self.agent.begun if arguments[9] & 2]

    def test_samples_that_were_slow_before_are_chosen_within_half_of_the_budget(self):
        self.run_fetches(1000, {5, 105})
        self.assertEqual([], self.chosen())
        self.assertEqual(6000000, self.agent.above[-1])  # ns; a sample is slow above three times the median
        self.agent.slow = [5, 105]
        drawn = len(self.agent.begun)
        self.run_fetches(20000, {5, 105})
        self.assertEqual({5, 105}, set(self.chosen()))
        self.assertGreater(len(self.chosen()), 20)
        # Samples are also still drawn at random.
        self.assertGreater(len(self.agent.begun) - drawn - len(self.chosen()), 20)
        here = self.functions._current
        age = self.agent.time - here.began
        self.assertLess(here.spent, age / 500 + 2 * self.agent.cost)
        self.assertLess(here.chosen.spent, age / 1000 + 2 * self.agent.cost)
        for arguments in self.agent.begun:
            if arguments[9] & 2:
                self.assertEqual((0, 0), arguments[5:7])  # a slow sample is not compared with usual ones

    def test_samples_are_drawn_and_chosen_from_the_same_fetch(self):
        """In its first minute a worker has fewer fetches than samples to follow, so one fetch must give both kinds."""
        self.run_fetches(1000, {5, 105})
        self.agent.slow = [5, 105]
        drawn = len(self.agent.begun)
        for i in range(60):
            self.fetch([i, 5, i + 200, i + 210, i + 220, i + 230, i + 240], {5, 105})
            self.agent.time += 10**9
        self.assertGreater(len(self.chosen()), 20)
        self.assertGreater(len(self.agent.begun) - drawn - len(self.chosen()), 20)

    def test_samples_that_were_slow_only_once_are_given_up(self):
        self.run_fetches(1000)
        self.agent.slow = list(range(0, 400, 2))
        self.run_fetches(20000)
        self.assertLess(len(self.chosen()), 20)
        self.assertEqual(len(set(self.chosen())), len(self.chosen()))

    def test_indices_of_the_programs_own_kind_are_not_iterated(self):
        class Indices(list):
            def __iter__(self):
                asked.append(self)
                return super().__iter__()

        asked = []
        self.run_fetches(1000, {5, 105})
        self.agent.slow = [5, 105]
        for _ in range(100):
            self.agent.time += 10**9
            self.functions.plan(Indices([5, 6, 7, 8]))
        self.assertEqual([], asked)
        self.assertEqual(5, self.functions.plan([5, 6, 7, 8]).chosen)

    def test_where_no_sample_is_slow_nothing_is_chosen(self):
        self.run_fetches(5000)
        self.assertEqual([], self.chosen())

    def test_a_unit_that_is_dropped_ends(self):
        functions = self.functions
        self.run_units([functions._STEP], 2000)
        before = functions._current.units
        for _ in range(2000):
            entered = functions.enter(functions._STEP, 1, -1, 0, 1)
            self.agent.time += 2000000
            if type(entered).__name__ == "_Followed":
                break
        del entered
        self.assertFalse(functions._current.busy.locked())
        self.assertEqual(before + 1, functions._current.units)

    def test_a_unit_that_is_dropped_at_the_end_of_the_interpreter_prints_nothing(self):
        functions, printed = self.functions, []
        self.run_units([functions._STEP], 2000)
        entered = None
        while type(entered).__name__ != "_Followed":
            entered = functions.enter(functions._STEP, 1, -1, 0, 1)
            self.agent.time += 2000000
        functions.leave = functions.follow = None  # the interpreter clears a module's names like this when it ends
        before, sys.unraisablehook = sys.unraisablehook, printed.append
        try:
            del entered
        finally:
            sys.unraisablehook = before
        self.assertEqual([], printed)

    def test_another_thread_neither_measures_nor_follows_meanwhile(self):
        functions, measured, others = self.functions, [], []

        def enter_elsewhere():
            thread = threading.Thread(target=lambda: others.append(functions.enter(functions._SAMPLE, 1, 6, 0, 1)))
            thread.start()
            thread.join()

        class Costs(functions.Costs):
            def __init__(self, monitor):
                super().__init__(monitor)
                measured.append(self)
                if len(measured) == 1:
                    enter_elsewhere()

        def finish(*_):
            enter_elsewhere()
            return self.agent.cost

        functions.Costs = Costs
        self.agent.follow["follow_finish"] = finish
        followed = self.run_units([functions._SAMPLE], 3000)
        self.assertEqual(1, len(measured))
        self.assertGreater(len(followed), 3)
        self.assertEqual(1 + len(followed), len(others))
        self.assertEqual({None}, set(others))

    def test_errors_of_the_agent_are_no_errors_of_the_program(self):
        def fails(*_):
            raise RuntimeError("no")

        self.agent.follow["follow_begin"] = fails
        self.assertEqual([], self.run_units([self.functions._SAMPLE], 3000))

    def test_it_can_be_switched_off(self):
        code = (
            "import sys, types; sys.path.insert(0, %r)\n"
            "b = types.ModuleType('penstock_hooks.bridge'); b.follow = {}; b.now = lambda: 1\n"
            "b.fact = b.recording = lambda *a: True\n"
            "sys.modules['penstock_hooks.bridge'] = b\n"
            "from penstock_hooks import functions; print(functions._refusal(), functions.follower())\n" % harness.AGENT
        )
        environment = dict(os.environ, PENSTOCK_FUNCTIONS="off", PYTHONDONTWRITEBYTECODE="1")
        result = subprocess.run([harness.PYTHON, "-c", code], env=environment, capture_output=True, text=True)
        self.assertEqual("switched off None\n", result.stdout, result.stderr)


if __name__ == "__main__":
    unittest.main()
