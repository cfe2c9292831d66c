# SPDX-License-Identifier: Apache-2.0
"""Which samples to follow on purpose: those that took long in an earlier epoch.

The agent notes their dataset indices (agent/python_slow_samples.h), in memory that forked workers share with the
training process.
"""
from penstock_hooks.bridge import follow

TIMES = 3  # a sample is slow if it takes more than 3 times the median, as in the analyzer's SampleTail
_AGAIN = 1.5  # a chosen sample was slow again above 1.5 times the median, as in the analyzer's SlowUnits
_TRIED = 8  # up to 8 chosen samples may turn out ordinary, and 3 more for each that was slow again


def share():
    """To be called in the training process before it starts workers."""
    if follow is not None:
        follow["slow_share"]()


class SlowSamples:
    """The slow samples that this process knows."""

    __slots__ = ("indices", "read", "told", "again", "ordinary")

    def __init__(self):
        self.indices = set()
        self.read = 0  # entries of the agent's table
        self.told = -1
        self.again = self.ordinary = 0  # numbers of followed samples that were slow again, and that were not
        share()

    def tell(self, units, median):
        """Tells the agent above which time to note a sample. `units`: the number of units followed so far."""
        self.told = units
        follow["slow_above"](int(TIMES * median))

    def known(self):
        """Whether slow samples are known that are worth following."""
        count = follow["slow_count"]()
        if count != self.read:
            self.indices.update(follow["slow_sample"](i) for i in range(self.read, count))
            self.indices.discard(-1)
            self.read = count
        return bool(self.indices) and self.ordinary <= _TRIED + 3 * self.again

    def pick(self, indices):
        """The first of these indices that is known to be slow; -1: none is."""
        known = self.indices
        for index in indices:
            if type(index) is int and index in known:
                return index
        return -1

    def note(self, index, ticks, median):
        """Notes that a chosen sample took `ticks`. A sample that was not slow again is not followed again: that is not
        worth the time."""
        if ticks > _AGAIN * median:
            self.again += 1
        else:
            self.ordinary += 1
            self.indices.discard(index)
