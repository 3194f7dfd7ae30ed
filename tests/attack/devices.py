# SPDX-License-Identifier: Apache-2.0
"""Worlds of kind `devices`: a device, its counters, the programs that use it, what they record.

With settings from device_settings.py they keep the promise of docs/clocks.md. With `breaks` they
break it.
"""
import math
import random
from types import SimpleNamespace

import device_settings
from clocks import Counter, HostClock
from ctf_writer import Trace
from device_work import counter_reads, operations, true_dispatch_ns
from draws import wander
from recording import Recording

MIXED_KINDS = [1, 1, 1, 2, 3, 4, 6]
SEPARATE_RECORDS = ("corr", "job", "reuse")

settings = device_settings.settings


def make(world, path):
    """Makes the world that settings describe, as a Recording."""
    rng = random.Random(world.seed * 7919 + 1)
    ticks_per_ns = world.counter_hz * (1 + world.rate_off_ppm * 1e-6) / 1e9
    tick_ns = 1 / ticks_per_ns
    floors_ns = [max(floor_ns, tick_ns * 1.01 + 1 if world.counter_hz >= 125e3 else 0, 5)
                 for floor_ns in (world.submit_floor_ns, world.complete_floor_ns)]
    done = operations(rng, world, floors_ns)
    end_ns = max(operation.complete_ns for operation in done) + 1e6
    reads = counter_reads(rng, world, end_ns) if world.reads_per_s else []
    if reads:
        end_ns = max(end_ns, reads[-1][2] + 1e6)
    counters = make_counters(rng, world, end_ns, ticks_per_ns)
    host = HostClock(world.host_start_ns, [(0.0, 1.0)])
    if world.breaks:
        breaks = world.breaks
        if callable(breaks):
            breaks = breaks(SimpleNamespace(rng=rng, end_ns=end_ns, operations=done, world=world,
                                            ticks_per_ns=ticks_per_ns))
            world.breaks = breaks  # what was drawn
        counters = [broken_counter(counter, breaks, world.counter_bits) for counter in counters]
        host = broken_host(breaks, world.host_start_ns)
    recorder = Recorder(rng, world, path, host, counters)
    recorder.record_definitions()
    recorder.record_reads(reads)
    recorder.record_operations(done, end_ns)
    return Recording(options_of(rng, world, floors_ns, done), [recorder.trace], recorder.truth,
                     world.clock_offset_ns + world.host_start_ns, tick_ns)


def make_counters(rng, world, end_ns, ticks_per_ns):
    """One counter for each domain. Domains of one rate group share an oscillator."""
    rho = world.rho_ppm * 1e-6 * world.wander_part
    oscillators, counters = {}, []
    for domain in range(world.n_domains):
        group = domain if world.n_rate_groups > 1 else 0
        if group not in oscillators:
            levels = wander(rng, end_ns, world.wander, rho)
            off = rng.uniform(-50, 50) * 1e-6 if group else 0
            oscillators[group] = (levels, ticks_per_ns * (1 + off))
        levels, rate = oscillators[group]
        first = rng.getrandbits(min(world.counter_bits, 60)) if domain else world.first_ticks
        counters.append(Counter([(t, rate * (1 + v)) for t, v in levels], first,
                                world.counter_bits))
    return counters


def broken_counter(counter, breaks, bits):
    """The counter with the breaks that are its own: stop, rate, reset."""
    factors = [(b[1], b[1] + b[2], 0.0 if b[0] == "stop" else 1 + b[3] * 1e-6)
               for b in breaks if b[0] in ("stop", "rate")]
    resets = [(b[1], b[2]) for b in breaks if b[0] == "reset"]
    rates = []
    for t in sorted(set(counter.begins_ns + [x for f in factors for x in f[:2]])):
        rate = counter.rate(t)
        for begin_ns, end_ns, factor in factors:
            if begin_ns <= t < end_ns:
                rate *= factor
        rates.append((t, rate))
    return Counter(rates, counter.bases[0], bits, resets)


def broken_host(breaks, start_ns):
    """The host's clock with the breaks that are its own: hslew, hjump."""
    slews = [(b[1], b[1] + b[2], b[3] * 1e-6) for b in breaks if b[0] == "hslew"]
    jumps = [(b[1], b[2]) for b in breaks if b[0] == "hjump"]
    rates = [(t, 1 + sum(by for begin_ns, end_ns, by in slews if begin_ns <= t < end_ns))
             for t in sorted(set([0.0] + [x for slew in slews for x in slew[:2]]))]
    return HostClock(start_ns, rates, jumps)


def options_of(rng, world, floors_ns, done):
    """Options for the conversion. What they state is true."""
    options = []
    if world.rho_ppm != 10:
        options.append(f"--rho-ppm={world.rho_ppm:g}")
    if world.states_floors:
        floors = ",".join(str(int(floor_ns * .999)) for floor_ns in floors_ns)
        options.append("--latency-floor-ns=" + floors)
    factor = world.nominal_factor
    true_mhz = world.counter_hz / 1e6 * (1 + world.rate_off_ppm * 1e-6)
    if world.states_rate_ppm and factor is None:
        options.append(f"--nominal-mhz={true_mhz:.9f}")
        options.append(f"--nominal-ppm={60 if world.n_rate_groups > 1 else 3}")
    elif world.states_rate_ppm and world.n_domains == 1 and .9 < factor < 1.1:
        off_ppm = abs(1 / factor * (1 + world.rate_off_ppm * 1e-6) - 1) * 1e6 + 2
        options.append(f"--nominal-ppm={max(off_ppm, 1):.3f}")
    if world.states_rate and factor is None:
        options.append(f"--nominal-mhz={world.counter_hz / 1e6 * (1 + rng.uniform(-.02, .02)):.9f}")
    if world.states_dispatch:
        options.append(f"--max-dispatch-ns={int(true_dispatch_ns(done)) + 2000}")
    return options


class Recorder:
    """Writes down what programs see of a world, and what is true of it."""

    def __init__(self, rng, world, path, host, counters):
        self.rng = rng
        self.world = world
        self.host = host
        self.counters = counters
        self.trace = Trace(path, rng, clock_offset_ns=world.clock_offset_ns)
        self.pids = [100 + i for i in range(world.n_processes)]
        self.truth = {}
        self.losses = []  # [(begin_ns, end_ns)]: nothing is recorded then
        self.in_use_until_ns = {}  # (queue, job number): when its last work was complete

    def record_definitions(self):
        world = self.world
        start_ns = max(1, world.host_start_ns - 10**9)
        nominal_hz = 0
        if world.nominal_factor is not None:
            nominal_hz = max(1, round(world.counter_hz * world.nominal_factor))
        for pid in self.pids:
            self.trace.add_process(start_ns, start_ns + 1000, pid)
            self.trace.add("device", start_ns + 2000, {
                "device": 0, "uuid": "dev-0", "n_cores": 1, "core_hz": 0, "name": "d",
                "power_unit": "", "processors": ""}, pid=pid)
            for domain in range(world.n_domains):
                self.trace.add("clock_domain", start_ns + 3000, {
                    "device": 0, "domain": domain, "counter_bits": world.counter_bits,
                    "nominal_hz": nominal_hz,
                    "rate_group": domain if world.n_rate_groups > 1 else 0}, pid=pid)

    def record_reads(self, reads):
        for before_ns, read_ns, after_ns, domain in reads:
            after_host_ns = self.host.read_ns(after_ns)
            self.trace.add("clock_sync", after_host_ns + 100, {
                "device": 0, "domain": domain, "host_before_ns": self.host.read_ns(before_ns),
                "ticks": self.counters[domain].register(read_ns), "host_after_ns": after_host_ns,
            }, pid=self.pids[0], instance=self.rng.randrange(self.world.n_streams))

    def record_operations(self, done, end_ns):
        if self.world.lost_in_bursts and self.world.lost_part:
            for _ in range(3):
                begin_ns = self.rng.random() * end_ns
                self.losses.append((begin_ns, begin_ns + self.world.lost_part * end_ns / 3))
        for operation in done:
            self.record_operation(operation)

    def is_lost(self, time_ns):
        if not self.world.lost_part:
            return False
        if self.world.lost_in_bursts:
            since_ns = time_ns - self.world.host_start_ns
            return any(begin_ns <= since_ns < end_ns for begin_ns, end_ns in self.losses)
        return self.rng.random() < self.world.lost_part

    def stamps_of(self, operation):
        stamps = [self.counters[operation.domain].stamp(t) for t in operation.times_ns]
        for k in range(5):
            if self.world.missing_stamp_part and self.rng.random() < self.world.missing_stamp_part:
                stamps[k] = 0
        return stamps

    def job_of(self, operation):
        """The number under which the program records the operation."""
        world = self.world
        if world.recorded != "reuse":
            return operation.index + 1
        if not world.numbers_are_free:
            return 1 + operation.index % world.n_job_numbers
        in_use = self.in_use_until_ns
        job = 1
        while in_use.get((operation.queue, job), -1e30) >= operation.submit_ns - 1000:
            job += 1
        in_use[operation.queue, job] = operation.complete_ns
        return job

    def host_times_of(self, operation, submit_ns, complete_ns):
        """The host times that device_op itself has. 0: not known."""
        recorded, window = self.world.recorded, self.world.recorded_window
        if recorded in SEPARATE_RECORDS or recorded == "sync":
            submit_ns = complete_ns = 0
        elif recorded == "subonly":
            complete_ns = 0
        elif recorded == "comonly":
            submit_ns = 0
        elif recorded == "mixed":
            z = self.rng.random()
            submit_ns = 0 if z < .2 or .4 <= z < .5 else submit_ns
            complete_ns = 0 if .2 <= z < .5 else complete_ns
        span_ns = self.world.duration_ns
        begin, end = window or (-math.inf, math.inf)
        if not begin * span_ns <= operation.submit_ns <= end * span_ns:
            submit_ns = complete_ns = 0
        return submit_ns, complete_ns

    def record_operation(self, operation):
        rng, world = self.rng, self.world
        stamps = self.stamps_of(operation)
        kind = world.operation_kind
        if kind == "mix":
            kind = rng.choice(MIXED_KINDS)
        submit_ns = self.host.read_ns(operation.submit_ns)
        complete_ns = self.host.read_ns(operation.complete_ns)
        soon_ns = complete_ns + int(rng.uniform(100, 3000))
        record_ns = soon_ns
        if world.record_delay_ns:
            record_ns += int(rng.expovariate(1 / world.record_delay_ns))
        if world.recorded == "subonly":
            record_ns = soon_ns
        job = self.job_of(operation)
        host_times_ns = self.host_times_of(operation, submit_ns, complete_ns)
        common = {"device": 0, "queue": operation.queue, "job": job,
                  "correlation": operation.index + 1 if world.recorded == "corr" else 0,
                  "name": f"k{operation.index % 5}"}
        place = {"pid": self.pids[operation.queue % len(self.pids)],
                 "instance": rng.randrange(world.n_streams)}
        if world.recorded in SEPARATE_RECORDS:
            self.record_host_times(common, place, submit_ns, complete_ns)
        if self.is_lost(record_ns):
            stream = (0, place["instance"])
            self.trace.n_discarded[stream] = self.trace.n_discarded.get(stream, 0) + 1
            return
        values = dict(common, domain=operation.domain, kind=kind, submit_ns=host_times_ns[0],
                      complete_ns=host_times_ns[1], ts=stamps, power=0, bytes=0, peer=-1,
                      group="", type="")
        self.record_device_op(operation, record_ns, values, place)

    def record_host_times(self, common, place, submit_ns, complete_ns):
        if not self.is_lost(submit_ns):
            self.trace.add("submit", submit_ns + self.rng.randrange(20, 500),
                           dict(common, host_ns=submit_ns), **place)
        if not self.is_lost(complete_ns):
            self.trace.add("complete", complete_ns + self.rng.randrange(20, 90),
                           dict(common, host_ns=complete_ns), **place)

    def record_device_op(self, operation, record_ns, values, place):
        tag = ("op", operation.index)
        self.trace.add("device_op", record_ns, values, tag=tag, **place)
        self.truth[tag] = SimpleNamespace(
            times_ns=[self.host.elapsed_ns(t) for t in operation.times_ns], stamps=values["ts"],
            clock=operation.domain)
        if self.world.duplicated_part and self.rng.random() < self.world.duplicated_part:
            again = ("dup", operation.index)
            self.trace.add("device_op", record_ns + 50, values, tag=again, **place)
            self.truth[again] = self.truth[tag]
