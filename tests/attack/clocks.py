# SPDX-License-Identifier: Apache-2.0
"""Counters of devices and clocks of hosts, as exact functions of the true time.

True times are ns since the begin of the world, as floats.
"""
import bisect
import math

LOW_32_BITS = 0xffffffff


class Counter:
    """A counter of a device: rates [(begin_ns, ticks_per_ns)], resets [(time_ns, ticks)]."""

    def __init__(self, rates, first_ticks=0, bits=32, resets=()):
        points = sorted([(t, 0, rate) for t, rate in rates] + [(t, 1, v) for t, v in resets],
                        key=lambda point: point[:2])
        self.bits = bits
        self.begins_ns = []
        self.phases = []  # ticks since `bases`, at the begin of each piece
        self.rates = []
        self.bases = []
        for t, is_reset, value in points:
            self._begin(t, is_reset, value, first_ticks)

    def _begin(self, t, is_reset, value, first_ticks):
        if not self.begins_ns:
            piece = (0.0, value, first_ticks)
        elif is_reset:
            piece = (0.0, self.rates[-1], value)
        else:
            phase = self.phases[-1] + self.rates[-1] * (t - self.begins_ns[-1])
            piece = (phase, value, self.bases[-1])
        self.begins_ns.append(t)
        for pieces, x in zip((self.phases, self.rates, self.bases), piece):
            pieces.append(x)

    def _piece(self, t):
        return max(0, bisect.bisect_right(self.begins_ns, t) - 1)

    def count(self, t):
        """Ticks at t, without any wrap."""
        i = self._piece(t)
        ticks = math.floor(self.phases[i] + self.rates[i] * (t - self.begins_ns[i]))
        return self.bases[i] + ticks

    def rate(self, t):
        return self.rates[self._piece(t)]

    def register(self, t):
        """What the counter shows at t in all its bits."""
        return self.count(t) & ((1 << self.bits) - 1)

    def stamp(self, t):
        """What a 32-bit stamp of it says at t."""
        return self.register(t) & LOW_32_BITS


class HostClock:
    """The clock of a host: rates [(begin_ns, rate)], jumps [(time_ns, by_ns)]."""

    def __init__(self, offset_ns, rates, jumps=()):
        self.offset_ns = offset_ns
        self.begins_ns = []
        self.values_ns = []
        self.rates = []
        points = sorted([(t, 0, x) for t, x in rates] + [(t, 1, x) for t, x in jumps],
                        key=lambda point: point[:2])
        for t, is_jump, x in points:
            value_ns = self.elapsed_ns(t) if self.begins_ns else 0.0
            self.begins_ns.append(t)
            self.values_ns.append(value_ns + x if is_jump else value_ns)
            self.rates.append(self.rates[-1] if is_jump else x)

    def elapsed_ns(self, t):
        """What the clock went on by from the world's begin to t."""
        i = max(0, bisect.bisect_right(self.begins_ns, t) - 1)
        return self.values_ns[i] + self.rates[i] * (t - self.begins_ns[i])

    def read_ns(self, t):
        """What a program reads at t."""
        return self.offset_ns + math.floor(self.elapsed_ns(t))
