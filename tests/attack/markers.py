# SPDX-License-Identifier: Apache-2.0
"""Worlds of kind `markers`: firmware that marks its runs and zones in areas that a program drains,
on several cores, with boots at which areas begin anew and the counter may be set back.

Without boots they keep the promise of docs/clocks.md. A boot breaks the counter where it is set.
"""
import math
import random
from types import SimpleNamespace

from clocks import LOW_32_BITS, Counter
from ctf_writer import Trace
from draws import WANDERS, length_of, log_uniform, pick, tail_of, wander
from recording import Recording

HOST_START_NS = 10**12
SUBMIT_FLOOR_NS = 2000.
COMPLETE_FLOOR_NS = 4000.
# kinds of words in an area
ZONE_BEGIN, ZONE_END, RING_RUN, SLOT_RUN, SLOT_NUMBER, ANCHOR_LOW, ANCHOR_HIGH, STAMP, BOOT = (
    2, 3, 6, 8, 9, 10, 11, 12, 14)


def settings(seed, overrides):
    """What a world of kind `markers` is like."""
    rng = random.Random(seed * 17 + 3)
    world = SimpleNamespace(seed=seed)
    draw_clock_and_work(rng, world)
    draw_recording(rng, world)
    world.recorded_window = None  # (begin, end) as parts of the duration: operations only there
    vars(world).update(overrides)
    return world


def draw_clock_and_work(rng, world):
    world.counter_bits = pick(rng, (64, 3), (32, 2), (48, .5))
    world.counter_hz = pick(rng, (560e6, 3), (log_uniform(rng, 1e6, 4e9), 1))
    world.rate_off_ppm = rng.uniform(-80, 80)
    world.nominal_factor = pick(rng, (1.0, 4), (None, 2), (1 + rng.uniform(-.03, .03), 1))
    world.wander = rng.choice(WANDERS)
    world.wander_part = rng.choice([.1, .97])  # of 10 ppm
    world.n_runs = int(log_uniform(rng, 3, 1500))
    world.duration_ns = log_uniform(rng, .05, 600) * 1e9
    world.length_ns = pick(rng, (log_uniform(rng, 1e3, 1e7), 4), (log_uniform(rng, 1e7, 2e10), 1.5))
    world.lengths = rng.choice(["exp", "fixed", "log"])
    world.n_cores = rng.choice([1, 1, 2, 4])


def draw_recording(rng, world):
    world.operation_part = pick(rng, (1.0, 3), (.5, 1), (.05, 1), (0., .7))  # with device_op
    world.reads_per_s = pick(rng, (0, 3), (1, 1), (10, 1), (.1, 1))
    if world.operation_part == 0 and not world.reads_per_s:
        world.reads_per_s = 1
    world.submit_tail = rng.choice(["exp", "bimodal", "heavy"])
    world.complete_tail = rng.choice(["exp", "bimodal", "heavy", "rare"])
    world.submit_tail_ns = log_uniform(rng, 200, 2e4)
    world.complete_tail_ns = log_uniform(rng, 200, 2e4)
    world.n_boots = pick(rng, (0, 4), (1, 2), (3, 1))
    world.boot_counter = rng.choice(["zero", "keep", "random", "back", "low"])
    world.drains = pick(rng, ("each", 3), ("late", 2), ("slow", 1))
    world.lost_part = pick(rng, (0, 3), (.1, 1))
    world.records_boots = pick(rng, (True, 5), (False, .0))
    world.first_ticks = pick(rng, (0, 1), (rng.getrandbits(32), 2), (rng.getrandbits(45), 1))
    pick(rng, (False, 4), (True, 1))  # draws as the first version did
    world.operation_kind = rng.choice([1, 2])
    world.n_domains = pick(rng, (1, 4), (2, 1))


def make(world, path):
    """Makes the world that settings describe, as a Recording."""
    rng = random.Random(world.seed * 65537 + 11)
    ticks_per_ns = world.counter_hz * (1 + world.rate_off_ppm * 1e-6) / 1e9
    tick_ns = 1 / ticks_per_ns
    runs, resets_ns = firmware_runs(rng, world, tick_ns)
    end_ns = max(max(run.complete_ns, run.end_ns) for run in runs) + 1e7
    levels = wander(rng, end_ns, world.wander, 10e-6 * world.wander_part)
    rates = [(t, ticks_per_ns * (1 + v)) for t, v in levels]
    n_domains = world.n_domains if world.n_cores > 1 else 1
    counters = [booted_counter(rng, world, rates, resets_ns, ticks_per_ns)
                for _ in range(n_domains)]
    recorder = Recorder(rng, world, path, counters)
    recorder.record_definitions()
    if world.reads_per_s:
        recorder.record_reads(end_ns)
    for core in range(world.n_cores):
        recorder.record_core(core, [run for run in runs if run.core == core], resets_ns)
    return Recording([], [recorder.trace], recorder.truth, HOST_START_NS, tick_ns)


def firmware_runs(rng, world, tick_ns):
    """All runs of the firmware in order, and when the device booted. Nothing is under way then."""
    submit_tail = tail_of(rng, world.submit_tail, world.submit_tail_ns)
    complete_tail = tail_of(rng, world.complete_tail, world.complete_tail_ns)
    length = length_of(rng, world.lengths, world.length_ns)
    floors_ns = [max(floor_ns, tick_ns * 1.01 + 1)
                 for floor_ns in (SUBMIT_FLOOR_NS, COMPLETE_FLOOR_NS)]
    boots_ns = sorted(rng.uniform(.1, .9) * world.duration_ns for _ in range(world.n_boots))
    runs, resets_ns, t = [], [], 0.
    free_ns = [0.] * world.n_cores
    n_since_boot = [0] * world.n_cores
    for i in range(world.n_runs):
        t += rng.expovariate(world.n_runs / world.duration_ns)
        if boots_ns and t > boots_ns[0]:
            boots_ns.pop(0)
            resets_ns.append(max([t] + free_ns) + 1e6)
            t = resets_ns[-1] + log_uniform(rng, 1e6, 1e9)
            free_ns = [t] * world.n_cores
            n_since_boot = [0] * world.n_cores
        core = rng.randrange(world.n_cores)
        kernel_ns = max(t + floors_ns[0] + submit_tail(), free_ns[core] + rng.uniform(500, 3000))
        run = one_run(rng, i, core, kernel_ns, length)
        run.submit_ns = t
        run.complete_ns = run.times_ns[4] + floors_ns[1] + complete_tail()
        n_since_boot[core] += 1
        run.number = n_since_boot[core]
        run.boot = len(resets_ns)
        run.zones_ns = zones_of(rng, run)
        free_ns[core] = run.end_ns
        runs.append(run)
    return runs, resets_ns


def one_run(rng, index, core, kernel_ns, length):
    """A run: the firmware's begin_ns and end_ns, five stamps of the operation between them."""
    begin_ns = kernel_ns - rng.uniform(0, 400)
    length_ns = length()
    parts = sorted(rng.random() for _ in range(3))
    times_ns = [kernel_ns] + [kernel_ns + part * length_ns for part in parts]
    times_ns.append(kernel_ns + length_ns)
    return SimpleNamespace(index=index, core=core, begin_ns=begin_ns, times_ns=times_ns,
                           end_ns=times_ns[4] + rng.uniform(50, 1500))


def zones_of(rng, run):
    """Up to two zones in a run that do not cross each other."""
    length_ns = run.end_ns - run.begin_ns
    zones = []
    for _ in range(rng.choice([0, 1, 2])):
        zones.append(sorted([run.begin_ns + rng.random() * length_ns,
                             run.begin_ns + rng.random() * length_ns]))
    if len(zones) == 2 and not (zones[0][1] <= zones[1][0] or zones[1][1] <= zones[0][0]):
        zones = zones[:1]
    return sorted(zones)


def booted_counter(rng, world, rates, resets_ns, ticks_per_ns):
    """A counter that boots leave where it is or set."""
    counter = Counter(rates, world.first_ticks, world.counter_bits)
    resets = []
    for at_ns in resets_ns:
        ticks = {  # all are drawn, one is taken
            "zero": 0,
            "random": rng.getrandbits(40),
            "back": max(0, counter.count(at_ns) - int(ticks_per_ns * log_uniform(rng, 1e6, 2e9))),
            "low": rng.getrandbits(20),
        }.get(world.boot_counter)
        if world.boot_counter != "keep":
            resets.append((at_ns, ticks))
            counter = Counter(rates, world.first_ticks, world.counter_bits, resets)
    return counter


def word(kind, index, value):
    """A word of an area."""
    return (kind << 60) | ((index & 0xfffffff) << 32) | (value & LOW_32_BITS)


class Recorder:
    """Drains the areas of cores, records operations, and keeps what is true of them."""

    def __init__(self, rng, world, path, counters):
        self.rng = rng
        self.world = world
        self.counters = counters
        self.trace = Trace(path, rng)
        self.truth = {}

    def host_ns(self, t):
        return HOST_START_NS + math.floor(t)

    def record_definitions(self):
        world = self.world
        start_ns = HOST_START_NS - 10**9
        nominal_hz = 0
        if world.nominal_factor is not None:
            nominal_hz = round(world.counter_hz * world.nominal_factor)
        self.trace.add_process(start_ns, start_ns + 1000)
        self.trace.add("device", start_ns + 2000, {
            "device": 0, "uuid": "dev-0", "n_cores": world.n_cores, "core_hz": 0, "name": "d",
            "power_unit": "", "processors": ""})
        for domain in range(len(self.counters)):
            self.trace.add("clock_domain", start_ns + 3000, {
                "device": 0, "domain": domain, "counter_bits": world.counter_bits,
                "nominal_hz": nominal_hz, "rate_group": 0})

    def record_reads(self, end_ns):
        rng = self.rng
        n = min(2000, max(1, int(end_ns / 1e9 * self.world.reads_per_s)))
        for i in range(n):
            before_ns = (i + rng.random()) / n * end_ns
            took_ns = log_uniform(rng, 200, 20000)
            read_ns = before_ns + rng.random() * took_ns
            domain = rng.randrange(len(self.counters))
            self.trace.add("clock_sync", self.host_ns(before_ns + took_ns) + 100, {
                "device": 0, "domain": domain, "host_before_ns": self.host_ns(before_ns),
                "ticks": self.counters[domain].register(read_ns),
                "host_after_ns": self.host_ns(before_ns + took_ns + 1)})

    def record_core(self, core, runs, resets_ns):
        """Drains the area of one core behind each of its runs, and before the next boot."""
        rng = self.rng
        boot = n_ring_words = 0
        last_ns = 0.
        for run in runs:
            is_first = run.boot != boot
            if is_first:
                boot, n_ring_words = run.boot, 0
            delay_ns = {  # all are drawn, one is taken
                "each": rng.uniform(1e3, 2e4),
                "late": log_uniform(rng, 1e4, 1e8),
                "slow": log_uniform(rng, 1e6, 3e9),
            }[self.world.drains]
            drained_ns = max(run.end_ns, run.complete_ns) + delay_ns
            later_ns = [at_ns for at_ns in resets_ns if at_ns > run.end_ns]
            if later_ns:
                drained_ns = min(drained_ns, later_ns[0] - 1000)
            drained_ns = max(drained_ns, last_ns + 2000)
            last_ns = drained_ns
            n_ring_words += self.record_drain(core, run, self.host_ns(drained_ns), n_ring_words,
                                              is_first)
            self.record_operation(core, run)

    def record_batch(self, core, time_ns, first_index, words):
        self.trace.add("marker_batch", time_ns, {
            "device": 0, "core": core, "processor": 0, "domain": core % len(self.counters),
            "first_index": first_index, "dropped": 0, "words": words})

    def record_drain(self, core, run, drained_ns, n_ring_words, is_first):
        """Records what a drain finds. Returns how many words were in the ring."""
        slot, ring = self.slot_of(core, run), self.ring_of(core, run)
        if is_first and self.world.records_boots:
            boot = word(BOOT, 2, self.world.counter_bits)
            self.record_batch(core, drained_ns - 2, 0, [boot])
        if self.rng.random() >= self.world.lost_part:
            self.record_batch(core, drained_ns - 1, n_ring_words, ring)
            self.record_batch(core, drained_ns, run.number, slot)
            clock = core % len(self.counters)
            self.truth["FW", run.index + 1] = SimpleNamespace(
                times_ns=(run.begin_ns, run.end_ns), clock=clock)
            self.truth["Kernel", run.index + 1] = SimpleNamespace(
                times_ns=run.times_ns[2:4], clock=clock)
        return len(ring)

    def slot_of(self, core, run):
        """The words of a run's slot: its numbers, its 64-bit anchor, its stamps."""
        counter = self.counters[core % len(self.counters)]
        anchor = counter.register(run.begin_ns)
        words = [word(SLOT_RUN, run.number, run.index + 1), word(SLOT_NUMBER, 1, 0),
                 word(ANCHOR_LOW, 0, anchor), word(ANCHOR_HIGH, 0, anchor >> 32)]
        times_ns = [run.begin_ns, run.times_ns[2], run.times_ns[3], run.end_ns] + run.times_ns
        stamps = [counter.stamp(t) for t in times_ns]
        return words + [word(STAMP, i, stamp) for i, stamp in enumerate(stamps) if stamp]

    def ring_of(self, core, run):
        """The words of a run in the ring: its begin and its zones."""
        clock = core % len(self.counters)
        counter = self.counters[clock]
        words = [word(RING_RUN, run.number, counter.stamp(run.begin_ns))]
        for i, (begin_ns, end_ns) in enumerate(run.zones_ns):
            zone = 1 + run.index * 4 + i
            words += [word(ZONE_BEGIN, zone, counter.stamp(begin_ns)),
                      word(ZONE_END, zone, counter.stamp(end_ns))]
            self.truth["Zone", zone] = SimpleNamespace(times_ns=(begin_ns, end_ns), clock=clock)
        return words

    def record_operation(self, core, run):
        world = self.world
        if self.rng.random() >= world.operation_part:
            return
        begin, end = world.recorded_window or (-math.inf, math.inf)
        if not begin * world.duration_ns <= run.submit_ns <= end * world.duration_ns:
            return
        clock = core % len(self.counters)
        stamps = [self.counters[clock].stamp(t) for t in run.times_ns]
        tag = ("op", run.index)
        self.trace.add("device_op", self.host_ns(run.complete_ns) + 500, {
            "device": 0, "domain": clock, "queue": core, "job": run.index + 1,
            "correlation": run.index + 1, "kind": world.operation_kind, "name": "k",
            "submit_ns": self.host_ns(run.submit_ns),
            "complete_ns": self.host_ns(run.complete_ns), "ts": stamps, "power": 0, "bytes": 0,
            "peer": -1, "group": "", "type": ""}, tag=tag)
        self.truth[tag] = SimpleNamespace(times_ns=run.times_ns, stamps=stamps, clock=clock)
