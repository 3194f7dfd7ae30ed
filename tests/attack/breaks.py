# SPDX-License-Identifier: Apache-2.0
"""Worlds of kind `breaks`: devices whose counter, or whose host's clock, breaks the promise once
or more often, at times that evidence can show.

A break is ("stop", at, for), ("rate", at, for, ppm), ("reset", at, ticks), ("hjump", at, by) or
("hslew", at, for, ppm), all times in ns: the counter stands still, has another rate, goes on from
other ticks; the host's clock jumps, has another rate. `breaks` states them, else the seed does.
"""
import random

import device_settings
import devices
from draws import log_uniform, pick

make = devices.make


def stop(scene):
    return [("stop", scene.at(), log_uniform(scene.rng, 5e3, 1e6))]


def stops(scene):
    return [("stop", scene.at(), log_uniform(scene.rng, 5e3, 1e6))
            for _ in range(scene.rng.choice([3, 10]))]


def excursion(scene, longest_ns):
    """Another rate for a while."""
    at_ns, for_ns = scene.at(), log_uniform(scene.rng, 3e7, longest_ns)
    return ("rate", at_ns, for_ns, scene.sign() * log_uniform(scene.rng, 100, 2900))


def rate(scene):
    return [excursion(scene, 5e9)]


def rates(scene):
    return [excursion(scene, 2e9) for _ in range(scene.rng.choice([2, 5]))]


def step(scene):
    at_ns = scene.at()
    return [("rate", at_ns, 2 * scene.end_ns, scene.sign() * log_uniform(scene.rng, 30, 2900))]


def levels(scene):
    """A rate that is never the same for long."""
    for_ns = log_uniform(scene.rng, 1e8, 3e9)
    largest_ppm = log_uniform(scene.rng, 30, 1000)
    t, found = 0., []
    while t < scene.end_ns and len(found) < 400:
        found.append(("rate", t, for_ns, scene.rng.uniform(-largest_ppm, largest_ppm)))
        t += for_ns
    return found


def reset(scene):
    return [("reset", scene.at(), scene.rng.getrandbits(min(scene.world.counter_bits, 60)))]


def reset_to_zero(scene):
    return [("reset", scene.at(), 0)]


def reset_near(scene):
    """Back by a little."""
    at_ns = scene.at()
    gone_ns = at_ns - log_uniform(scene.rng, 1e5, 1e9)
    return [("reset", at_ns, scene.world.first_ticks + int(scene.ticks_per_ns * gone_ns))]


def resets(scene):
    return [("reset", scene.at(), scene.rng.choice([0, scene.rng.getrandbits(31)]))
            for _ in range(scene.rng.choice([2, 5, 12]))]


def reset_while_idle(scene):
    """In the longest gaps between operations."""
    done = scene.operations

    def gap_ns(i):
        return done[i].times_ns[0] - done[i - 1].times_ns[4]
    longest = sorted(range(1, len(done)), key=lambda i: -gap_ns(i))[:scene.rng.choice([1, 3])]
    return [("reset", done[i - 1].times_ns[4] + .5 * gap_ns(i), 0) for i in longest
            if gap_ns(i) > 0]


def host_jump(scene):
    return [("hjump", scene.at(), log_uniform(scene.rng, 1e4, 5e9))]


def host_jumps(scene):
    return [("hjump", scene.at(), log_uniform(scene.rng, 1e4, 1e9))
            for _ in range(scene.rng.choice([2, 5]))]


def host_slew(scene):
    at_ns, for_ns = scene.at(), log_uniform(scene.rng, 5e8, 1e10)
    return [("hslew", at_ns, for_ns, scene.sign() * scene.rng.choice([20, 100, 500]))]


def suspend(scene):
    """The host's clock stands still, the device runs."""
    at_ns = scene.at()
    return [("hslew", at_ns, log_uniform(scene.rng, 1e7, 3e9), -1e6 + 1)]


def mixed(scene):
    found = []
    for _ in range(scene.rng.choice([2, 3])):
        found += scene.rng.choice([stop, rate, host_jump, reset, host_slew, step])(scene)
    return found


def restart_with_each_job(scene):
    found = []
    for i, operation in enumerate(scene.operations):
        begin_ns = operation.times_ns[0]
        last_ns = scene.operations[i - 1].times_ns[4] if i else 0
        at_ns = max(begin_ns - scene.rng.uniform(1, 1000), (begin_ns + last_ns) / 2)
        found.append(("reset", at_ns, 0))
    return found


KINDS = [stop, stops, rate, rates, step, levels, reset, resets, reset_to_zero, reset_near,
         reset_while_idle, host_jump, host_jumps, host_slew, suspend, mixed,
         restart_with_each_job]  # seed modulo their number takes one


class Scene:
    """What a kind of break is drawn from."""

    def __init__(self, made):
        self.rng = made.rng
        self.end_ns = made.end_ns
        self.operations = made.operations
        self.ticks_per_ns = made.ticks_per_ns
        self.world = made.world

    def at(self):
        """A time in the run, not right at its ends."""
        return self.rng.uniform(.03, .97) * self.end_ns

    def sign(self):
        return self.rng.choice([-1, 1])


def settings(seed, overrides):
    """What a world of kind `breaks` is like."""
    rng = random.Random(seed * 31 + 7)
    world = device_settings.settings(seed, {})
    draw_clock_and_work(rng, world)
    draw_recording(rng, world)
    world.break_kind = KINDS[seed % len(KINDS)].__name__
    vars(world).update(overrides)
    if world.break_kind == restart_with_each_job.__name__:
        world.n_queues = 1
        world.reads_per_s = 0
    if world.breaks is None:
        kind = next(kind for kind in KINDS if kind.__name__ == world.break_kind)
        world.breaks = lambda made: kind(Scene(made))
    return world


def draw_clock_and_work(rng, world):
    world.host_start_ns = 10**12
    world.clock_offset_ns = 0
    world.counter_bits = pick(rng, (32, 5), (64, 1))
    world.counter_hz = pick(rng, (560e6, 3), (log_uniform(rng, 1e6, 4e9), 1))
    world.rate_off_ppm = rng.uniform(-50, 50)
    world.nominal_factor = pick(rng, (1.0, 3), (None, 2))
    world.rho_ppm = 10
    world.wander = pick(rng, ("none", 2), ("sine", 1), ("walk", 1))
    world.wander_part = rng.choice([.1, .9])
    per_s = pick(rng, (100, 4), (10, 1), (1000, 1))
    world.n_operations = pick(rng, (2000, 3), (600, 1))
    world.duration_ns = world.n_operations / per_s * 1e9
    world.n_queues = pick(rng, (1, 4), (2, 1))
    world.arrivals = pick(rng, ("open", 4), ("sync", 1), ("rhythm", 1))
    world.length_ns = log_uniform(rng, 1e3, .5e9 / per_s)
    world.lengths = rng.choice(["exp", "fixed", "mix"])
    world.submit_floor_ns = 2000.
    world.complete_floor_ns = 4000.
    world.submit_tail = rng.choice(["exp", "bimodal"])
    world.complete_tail = rng.choice(["exp", "bimodal", "heavy"])
    world.submit_tail_ns = log_uniform(rng, 200, 5000)
    world.complete_tail_ns = log_uniform(rng, 200, 5000)


def draw_recording(rng, world):
    world.poll_ns = 0
    world.batch = 1
    world.recorded = pick(rng, ("both", 4), ("corr", 1), ("job", .6))
    world.record_delay_ns = pick(rng, (0, 2), (1e6, 1))
    world.reads_per_s = pick(rng, (0, 4), (1, 1), (10, 1))
    world.read_ns = 2000.
    world.lost_part = 0
    world.missing_stamp_part = 0
    world.operation_kind = pick(rng, (1, 2), (2, 1))
    world.duplicated_part = 0
    world.n_streams = 1
    world.n_domains = 1
    world.n_processes = 1
    world.states_floors = world.states_rate_ppm = False
    world.states_dispatch = world.states_rate = False
    world.first_ticks = rng.getrandbits(31)
