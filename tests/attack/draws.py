# SPDX-License-Identifier: Apache-2.0
"""Random quantities that worlds are made of: choices, latencies, lengths, wandering rates.

The order of draws is part of a world: the same seed must make the same world in every version.
"""
import math

WANDERS = ["none", "sine", "square", "ramp", "walk", "telegraph", "pulse", "warm", "white",
           "halves"]
TAILS = ["zero", "exp", "bimodal", "heavy", "uniform", "rare"]
LENGTHS = ["fixed", "exp", "log", "mix", "zero"]


def pick(rng, *pairs):
    """One value of pairs (value, weight)."""
    x = rng.random() * sum(weight for _, weight in pairs)
    for value, weight in pairs:
        x -= weight
        if x < 0:
            return value
    return pairs[-1][0]


def log_uniform(rng, low, high):
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def tail_of(rng, kind, scale_ns):
    """A function that draws what a latency takes beyond its least value, in ns."""
    if kind == "zero":
        return lambda: rng.uniform(0, 1)
    if kind == "exp":
        return lambda: rng.expovariate(1 / scale_ns)
    if kind == "bimodal":
        part = rng.choice([.02, .1, .5])
        return lambda: (rng.expovariate(1 / (scale_ns * 50)) if rng.random() < part
                        else rng.expovariate(1 / scale_ns))
    if kind == "heavy":
        return lambda: min(scale_ns * (rng.paretovariate(.9) - 1), 3e7)
    if kind == "uniform":
        return lambda: rng.uniform(0, 2 * scale_ns)
    if kind == "rare":  # almost never short
        return lambda: (rng.expovariate(1 / scale_ns) if rng.random() < .01
                        else rng.uniform(50, 400) * scale_ns)
    raise ValueError(f"no such tail: {kind}")


def length_of(rng, kind, base_ns):
    """A function that draws how long an operation runs, in ns."""
    return {
        "fixed": lambda: base_ns,
        "exp": lambda: rng.expovariate(1 / base_ns),
        "log": lambda: base_ns * 10**rng.uniform(-2, 2),
        "zero": lambda: 0.0,
        "mix": lambda: rng.choice([0.0, base_ns * .01, base_ns, base_ns * 10]),
    }[kind]


def sine(rng, span_ns, n):
    period = rng.choice([span_ns, span_ns / 2, span_ns / rng.uniform(1, 30)])
    phase = rng.random() * 6.283
    n = max(n, 200)
    return [(span_ns * i / n, math.sin(phase + 6.2831853 * (i + .5) * span_ns / n / period))
            for i in range(n)]


def square(rng, span_ns, _):
    period = span_ns / rng.choice([1, 2, 3, 7, 20, 100])
    phase = rng.random()
    levels, t, level = [], -phase * period, 1
    while t < span_ns:
        levels.append((max(t, 0.0), float(level)))
        level = -level
        t += period / 2
    return [x for i, x in enumerate(levels) if i + 1 >= len(levels) or levels[i + 1][0] > x[0]]


def ramp(rng, span_ns, n):
    n = max(n, 300)
    levels = []
    for i in range(n):
        rng.choice([1])  # draws as the first version did
        levels.append((span_ns * i / n, 2 * (i + .5) / n - 1))
    return [(t, -v) for t, v in levels] if rng.random() < .5 else levels


def walk(rng, span_ns, n):
    n = max(n, 300)
    levels, level = [], 0
    for i in range(n):
        level += rng.gauss(0, 1)
        levels.append((span_ns * i / n, level))
    return levels


def telegraph(rng, span_ns, _):
    levels, t, level = [], 0.0, rng.choice([-1, 1])
    mean_ns = span_ns / rng.choice([3, 10, 50])
    while t < span_ns:
        levels.append((t, float(level)))
        level = -level
        t += rng.expovariate(1 / mean_ns)
    return levels


def pulse(rng, span_ns, _):
    """A short time at another rate."""
    begin = rng.uniform(0, .9) * span_ns
    width = rng.uniform(.005, .3) * span_ns
    level = rng.choice([-1, 1])
    return [(0.0, 0.0), (begin, float(level)), (min(begin + width, span_ns * .999), 0.0)]


def warm(rng, span_ns, _):
    """A crystal that warms up."""
    n = 400
    tau = span_ns * rng.uniform(.02, .5)
    levels = [(span_ns * i / n, math.exp(-span_ns * (i + .5) / n / tau)) for i in range(n)]
    return [(t, -v) for t, v in levels] if rng.random() < .5 else levels


def white(rng, span_ns, n):
    n = max(n, 40)
    return [(span_ns * i / n, rng.uniform(-1, 1)) for i in range(n)]


def halves(rng, span_ns, _):
    """One level, then another."""
    middle = rng.uniform(.3, .7) * span_ns
    level = rng.choice([-1, 1])
    return [(0.0, float(level)), (middle, -float(level))]


SHAPES = {"sine": sine, "square": square, "ramp": ramp, "walk": walk, "telegraph": telegraph,
          "pulse": pulse, "warm": warm, "white": white, "halves": halves}


def wander(rng, span_ns, kind, rho):
    """[(begin_ns, deviation)]: a rate's way over span_ns. Its mean is 0, its largest deviation
    is rho (a fraction). Both hold exactly, so the promise about rates is kept."""
    n = {"none": 1}.get(kind, rng.choice([8, 40, 300, 1500]))
    if kind == "none" or rho == 0:
        return [(0.0, 0.0)]
    levels = SHAPES[kind](rng, span_ns, n)
    ends = [t for t, _ in levels[1:]] + [span_ns]
    mean = sum(v * (end - t) for (t, v), end in zip(levels, ends)) / span_ns
    levels = [(t, v - mean) for t, v in levels]
    largest = max(abs(v) for _, v in levels) or 1
    return [(t, v / largest * rho) for t, v in levels]
