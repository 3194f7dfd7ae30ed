# SPDX-License-Identifier: Apache-2.0
"""Settings of a world of devices: drawn from a seed, then overridden one by one."""
import random
from types import SimpleNamespace

from draws import LENGTHS, TAILS, WANDERS, log_uniform, pick


def settings(seed, overrides):
    """What a world of kind `devices` is like."""
    rng = random.Random(seed)
    world = SimpleNamespace(seed=seed)
    draw_clock(rng, world)
    draw_work(rng, world)
    draw_latencies(rng, world)
    draw_recording(rng, world)
    draw_losses(rng, world)
    draw_shape(rng, world)
    world.counter_hz_min = world.counter_hz_max = None
    world.recorded_window = None  # (begin, end) as parts of the duration: host times only there
    world.numbers_are_free = False  # recorded "reuse": takes a number only when it is free
    world.breaks = None
    vars(world).update(overrides)
    if world.counter_hz_min and world.counter_hz < world.counter_hz_min:
        world.counter_hz = log_uniform(rng, world.counter_hz_min, 9.9e9)
    if world.counter_hz_max and world.counter_hz > world.counter_hz_max:
        world.counter_hz = log_uniform(rng, 100, world.counter_hz_max)
    return world


def draw_clock(rng, world):
    world.host_start_ns = pick(rng, (10**12, 6), (rng.randrange(10**9, 10**16), 3),
                               (2 * 10**9, 1), (10**18, .3))
    world.clock_offset_ns = pick(rng, (1700000000000000000, 4), (0, 1), (12345, 1))
    world.counter_bits = pick(rng, (32, 8), (64, 2), (24, 1), (40, .5), (48, .5), (16, .3))
    world.counter_hz = pick(rng, (560e6, 5), (557.1e6, 1), (log_uniform(rng, 1e5, 8e9), 4),
                            (1e6, 1), (1.1e9, 1), (32768., .4), (log_uniform(rng, 100, 1e5), .4),
                            (24e6, .6), (1e9, 1), (9.9e9, .2))
    world.rate_off_ppm = rng.uniform(-100, 100)  # of the mean rate from counter_hz
    # stated as nominal rate: this times counter_hz; None: nothing is stated
    world.nominal_factor = pick(rng, (1.0, 5), (None, 4), (1 + rng.uniform(-.03, .03), 2),
                                (rng.uniform(.3, 3), .5))
    world.rho_ppm = pick(rng, (10, 6), (2, 1), (30, 1), (1, .5), (100, .5))
    world.wander = rng.choice(WANDERS)
    world.wander_part = pick(rng, (.97, 3), (.5, 1), (.1, 1))  # of rho_ppm


def draw_work(rng, world):
    world.n_operations = int(log_uniform(rng, 3, 3000))
    world.duration_ns = log_uniform(rng, .02, 3000) * 1e9
    world.n_queues = pick(rng, (1, 5), (2, 1), (4, 1), (16, .3))
    world.arrivals = pick(rng, ("open", 4), ("sync", 2), ("full", 1.5), ("burst", 2),
                          ("rhythm", 1), ("gap", 1.5))
    world.length_ns = pick(rng, (log_uniform(rng, 100, 1e6), 5), (log_uniform(rng, 1e6, 1e9), 2),
                           (log_uniform(rng, 1e9, 4e10), .7), (0, .3))
    world.lengths = rng.choice(LENGTHS)
    if not world.length_ns:
        world.lengths = "zero"


def draw_latencies(rng, world):
    world.submit_floor_ns = log_uniform(rng, 50, 3e5) if rng.random() < .5 else 2000.
    world.complete_floor_ns = log_uniform(rng, 50, 3e5) if rng.random() < .5 else 4000.
    world.submit_tail = rng.choice(TAILS)
    world.complete_tail = rng.choice(TAILS)
    world.submit_tail_ns = log_uniform(rng, 100, 1e6)
    world.complete_tail_ns = log_uniform(rng, 100, 1e6)
    world.poll_ns = pick(rng, (0, 6), (log_uniform(rng, 1e4, 2e7), 1.5))
    world.batch = pick(rng, (1, 6), (rng.choice([2, 4, 8, 32]), 1))  # completions seen at a time


def draw_recording(rng, world):
    # both: host times in device_op; corr, job, reuse: submit and complete are records of their
    # own, tied by correlation, by job number, by numbers that come again; mixed: some host times
    # lack; sync: reads of the counter only
    world.recorded = pick(rng, ("both", 5), ("corr", 2), ("job", 1.5), ("reuse", 1.5),
                          ("subonly", .3), ("comonly", .3), ("mixed", 1), ("sync", .7))
    world.n_job_numbers = rng.choice([1, 2, 4, 16, 64])
    world.record_delay_ns = pick(rng, (0, 3), (log_uniform(rng, 1e5, 1e9), 2))
    world.reads_per_s = pick(rng, (0, 4), (log_uniform(rng, .1, 20), 2))
    if world.recorded == "sync" and not world.reads_per_s:
        world.reads_per_s = 2.
    world.read_ns = log_uniform(rng, 50, 1e5)  # least time that a read of the counter takes


def draw_losses(rng, world):
    world.lost_part = pick(rng, (0, 4), (log_uniform(rng, .001, .3), 1))
    world.lost_in_bursts = rng.random() < .3
    world.missing_stamp_part = pick(rng, (0, 5), (rng.uniform(0, .3), 1))
    world.operation_kind = pick(rng, (1, 4), (2, 1), (5, .5), ("mix", 1.5))
    world.duplicated_part = pick(rng, (0, 8), (.02, .5))


def draw_shape(rng, world):
    world.n_streams = pick(rng, (1, 3), (2, 1), (4, .5))
    world.first_ticks = pick(rng, (rng.getrandbits(31), 3), (0, 1),
                             ((1 << 32) - rng.getrandbits(28), 1),
                             ((1 << 64) - rng.getrandbits(34), .7))
    world.n_domains = pick(rng, (1, 7), (2, 1), (4, .6))
    world.n_rate_groups = rng.choice([1, 2])
    world.n_processes = pick(rng, (1, 8), (2, 1))
    x = rng.random()
    world.states_floors = x < .12  # --latency-floor-ns
    world.states_rate_ppm = .12 <= x < .22  # --nominal-ppm
    world.states_dispatch = .22 <= x < .28  # --max-dispatch-ns
    world.states_rate = .28 <= x < .34  # --nominal-mhz
