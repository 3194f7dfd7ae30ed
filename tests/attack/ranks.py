# SPDX-License-Identifier: Apache-2.0
"""Worlds of kind `ranks`: ranks on several hosts, each host with a clock of its own, which meet in
collectives and send messages to each other.

They keep the promise of docs/clocks.md. With `breaks` they break it: [(host, "jump", at, by_ns, 0)]
or [(host, "slew", at, ppm, for_ns)], `at` being a part of the duration.
"""
import bisect
import math
import random
from types import SimpleNamespace

from clocks import HostClock
from ctf_writer import Trace
from draws import TAILS, WANDERS, log_uniform, pick, tail_of, wander
from recording import Recording

WALL_START_NS = 1700000000 * 10**9
N_SCOPES = 40  # of each rank, anywhere in the run
ALL_WAIT = ("all_reduce", "barrier", "all_gather", "reduce_scatter", "all_to_all")
ROOT_WAITS = ("reduce", "gather")


def settings(seed, overrides):
    """What a world of kind `ranks` is like."""
    rng = random.Random(seed)
    world = SimpleNamespace(seed=seed)
    draw_meetings(rng, world)
    draw_latencies(rng, world)
    draw_clocks(rng, world)
    draw_presence(rng, world)
    world.breaks = None
    vars(world).update(overrides)
    return world


def draw_meetings(rng, world):
    world.n_ranks = pick(rng, (2, 3), (3, 2), (6, 3), (16, 1), (32, .3), (64, .15))
    world.n_ranks_per_host = pick(rng, (1, 5), (2, 1), (4, .5))
    world.duration_ns = log_uniform(rng, .5, 600) * 1e9
    world.n_meetings = int(min(log_uniform(rng, 3, 3000), 24000 / world.n_ranks))
    world.messages = pick(rng, (0, 4), ("both", 1), ("oneway", .7), ("ring", .7))
    world.has_collectives = True
    if world.messages and rng.random() < .6:
        world.has_collectives = False
    world.operation = pick(rng, ("all_reduce", 4), ("barrier", 2), ("broadcast", 1), ("mix", 1.5),
                           ("all_gather", .5), ("reduce_scatter", .5), ("all_to_all", .5),
                           ("reduce", .5), ("gather", .3), ("scatter", .3))
    world.groups = pick(rng, ("world", 4), ("pairs", 1), ("random", 1))


def draw_latencies(rng, world):
    world.skew_ns = pick(rng, (log_uniform(rng, 1e3, 1e6), 3), (log_uniform(rng, 1e6, 1e8), 1))
    world.skews = pick(rng, ("exp", 3), ("last", 1.5), ("uniform", 1), ("grow", 1))
    world.floor_ns = log_uniform(rng, 200, 5e4)
    world.tail_ns = log_uniform(rng, 100, 1e5)
    world.tail = rng.choice(TAILS)
    # the exits of one rank come later and later (or less and less late)
    world.exit_growth_ns = pick(rng, (0, 4), (log_uniform(rng, 1e4, 5e6), 1.5),
                                (-log_uniform(rng, 1e4, 5e6), .7))
    world.exit_growth = rng.choice(["lin", "warm", "step", "sine"])


def draw_clocks(rng, world):
    world.rate_off_ppm = pick(rng, (50, 4), (99, 1), (1, 1))  # at most
    world.wander = rng.choice(WANDERS)
    world.wander_part = pick(rng, (.97, 3), (.3, 1))  # of 1 ppm
    world.clock_offset_ns = pick(rng, (5e9, 2), (1e6, 1), (1e12, 1))  # at most


def draw_presence(rng, world):
    world.late_part = pick(rng, (0, 5), (rng.uniform(.1, .8), 1))  # ranks that begin late
    world.early_part = pick(rng, (0, 5), (rng.uniform(.1, .8), 1))  # ranks that end early
    world.lost_part = pick(rng, (0, 5), (rng.uniform(.005, .3), 1))
    world.reference_rank = pick(rng, (None, 5), (1, 1))
    world.spacing = pick(rng, ("even", 3), ("exp", 2), ("burst", 1.5), ("ends", .7), ("mid", .5))


def make(world, path):
    """Makes the world that settings describe, as a Recording. Its truth is in times of the
    reference's clock."""
    rng = random.Random(world.seed * 104729 + 5)
    clocks = host_clocks(rng, world)
    traces = []
    for host, clock in enumerate(clocks):
        offset_ns = WALL_START_NS - clock.offset_ns
        offset_ns += int(rng.uniform(-1, 1) * world.clock_offset_ns)
        traces.append(Trace(f"{path}/h{host:02d}", rng, f"host{host}",
                            f"{host + 1:08d}-0000-4000-8000-{world.seed:012d}", offset_ns))
    run = Run(rng, world, clocks, traces)
    times_ns = meeting_times(rng, world)
    run.record_programs()
    run.draw_odd_ranks()
    for index, at_ns in enumerate(times_ns):
        if world.has_collectives:
            run.collective(index, at_ns)
        if world.messages:
            run.message(index, at_ns)
    run.record_scopes()
    options = []
    if world.reference_rank:
        options = [f"--reference-rank={world.reference_rank}"]
    return Recording(options, traces, run.truth, run.reference_offset_ns, 0)


def host_clocks(rng, world):
    n_hosts = (world.n_ranks + world.n_ranks_per_host - 1) // world.n_ranks_per_host
    end_ns = world.duration_ns * 1.02 + 1e7
    parts = []
    for _ in range(n_hosts):
        kind = world.wander if rng.random() < .8 else rng.choice(WANDERS)
        levels = wander(rng, end_ns, kind, 1e-6 * world.wander_part)
        mean = 1 + rng.uniform(-1, 1) * world.rate_off_ppm * 1e-6
        parts.append(([(t, mean * (1 + v)) for t, v in levels], []))
    for host, kind, at, by, for_ns in world.breaks or []:
        rates, jumps = parts[host % n_hosts]
        if kind == "jump":
            jumps.append((at * world.duration_ns, by))
        else:
            at_ns = at * world.duration_ns
            parts[host % n_hosts] = (slewed(rates, at_ns, at_ns + for_ns, by * 1e-6), jumps)
    return [HostClock(10**12 + int(rng.uniform(0, 5e14)), rates, jumps) for rates, jumps in parts]


def slewed(rates, begin_ns, end_ns, by):
    begins_ns = [t for t, _ in rates]

    def rate(t):
        return rates[max(0, bisect.bisect_right(begins_ns, t) - 1)][1]
    found = [(t, v + by) if begin_ns <= t < end_ns else (t, v) for t, v in rates]
    return sorted(found + [(begin_ns, rate(begin_ns) + by), (end_ns, rate(end_ns))])


def meeting_times(rng, world):
    """When ranks meet."""
    span_ns, n = world.duration_ns, world.n_meetings
    return {
        "even": lambda: [span_ns * (i + .5) / n for i in range(n)],
        "exp": lambda: sorted(rng.random() * span_ns for _ in range(n)),
        "burst": lambda: sorted(span_ns * (math.floor(rng.random() * 5) + .5) / 5 +
                                rng.random() * span_ns * .01 for _ in range(n)),
        "ends": lambda: sorted(rng.choice([rng.random() * .03, 1 - rng.random() * .03]) * span_ns
                               for _ in range(n)),
        "mid": lambda: sorted((.45 + .1 * rng.random()) * span_ns for _ in range(n)),
    }[world.spacing]()


class Run:
    """What ranks do together, what they record of it, and what is true of it."""

    def __init__(self, rng, world, clocks, traces):
        self.rng = rng
        self.world = world
        self.clocks = clocks
        self.traces = traces
        self.present = self.draw_presence()
        reference = (world.reference_rank or 0) // world.n_ranks_per_host
        self.reference = clocks[reference]
        self.reference_offset_ns = traces[reference].clock_offset_ns
        self.free_ns = [0.0] * world.n_ranks
        self.numbers = {}  # group: how often it has met
        self.truth = {}

    def draw_presence(self):
        """When each rank takes part, as parts of the duration."""
        world, rng = self.world, self.rng
        present = [(0., 1.)] * world.n_ranks
        if world.late_part:
            for rank in range(1, world.n_ranks):
                if rng.random() < .5:
                    present[rank] = (world.late_part, 1.)
        if world.early_part:
            for rank in range(1, world.n_ranks):
                if rng.random() < .5:
                    begin = present[rank][0]
                    present[rank] = (begin, max(begin + .05, 1 - world.early_part))
        return present

    def draw_odd_ranks(self):
        """The rank that enters last, and the one whose exits come later and later."""
        world = self.world
        self.tail = tail_of(self.rng, world.tail, world.tail_ns)
        self.last_rank = self.rng.randrange(world.n_ranks)
        self.growing_rank = self.rng.randrange(world.n_ranks)

    def host_of(self, rank):
        return rank // self.world.n_ranks_per_host

    def true_ns(self, t):
        return self.reference.elapsed_ns(t) + self.reference.offset_ns

    def keep_truth(self, tag, begin_ns, end_ns):
        self.truth[tag] = SimpleNamespace(
            times_ns=(self.true_ns(begin_ns), self.true_ns(end_ns)), clock=None)

    def record(self, rank, name, t, values, tag):
        host = self.host_of(rank)
        self.traces[host].add(name, self.clocks[host].read_ns(t), values, pid=1000 + rank,
                              instance=rank % self.world.n_ranks_per_host, tag=tag)

    def record_programs(self):
        for rank in range(self.world.n_ranks):
            host = self.host_of(rank)
            start_ns = self.clocks[host].read_ns(0) - 10**8
            self.traces[host].add_process(start_ns, start_ns + 5000, 1000 + rank, rank,
                                          self.world.n_ranks, rank % self.world.n_ranks_per_host)

    def record_scopes(self):
        for rank in range(self.world.n_ranks):
            for index in range(N_SCOPES):
                begin_ns = self.rng.random() * self.world.duration_ns
                end_ns = begin_ns + log_uniform(self.rng, 1e3, 1e7)
                tag = ("scope", index, rank)
                self.record(rank, "scope", end_ns, {
                    "begin_ns": self.clocks[self.host_of(rank)].read_ns(begin_ns), "kind": 0,
                    "name": "s", "correlation": 0, "file": "", "line": 0}, tag)
                self.keep_truth(tag, begin_ns, end_ns)

    def record_interval(self, tag, rank, values, begin_ns, end_ns):
        """Records a meeting of one rank, if it is not lost."""
        if self.world.lost_part and self.rng.random() < self.world.lost_part:
            return
        self.record(rank, "collective", begin_ns, dict(values, phase=0), tag)
        self.record(rank, "collective", end_ns, dict(values, phase=1), tag)
        self.keep_truth(tag, begin_ns, end_ns)

    def number(self, group):
        self.numbers[group] = self.numbers.get(group, 0) + 1
        return self.numbers[group] - 1

    def live_ranks(self, t):
        span_ns = self.world.duration_ns
        return [rank for rank, (begin, end) in enumerate(self.present)
                if begin * span_ns <= t <= end * span_ns]

    def growth_ns(self, rank, t):
        """What the exits of the growing rank take more at t."""
        if rank != self.growing_rank:
            return 0
        x = t / self.world.duration_ns
        y = {"lin": x, "warm": 1 - math.exp(-5 * x), "step": float(x > .4),
             "sine": .5 + .5 * math.sin(12 * x)}[self.world.exit_growth]
        growth_ns = self.world.exit_growth_ns
        return growth_ns * y if growth_ns >= 0 else -growth_ns * (1 - y)

    def skew_ns(self, rank, t):
        """How much later than the others a rank enters."""
        rng, skew_ns = self.rng, self.world.skew_ns
        if self.world.skews == "exp":
            return rng.expovariate(1 / skew_ns)
        if self.world.skews == "uniform":
            return rng.random() * skew_ns
        late_ns = skew_ns if rank == self.last_rank else 0
        if self.world.skews == "grow":
            late_ns = late_ns * t / self.world.duration_ns
        return rng.expovariate(10 / skew_ns) + late_ns

    def collective(self, index, t):
        rng, world = self.rng, self.world
        live = self.live_ranks(t)
        if world.groups == "pairs" and len(live) > 2:
            live = rng.sample(live, 2)
        elif world.groups == "random" and len(live) > 2:
            live = rng.sample(live, rng.randint(2, len(live)))
        if len(live) < 2:
            return
        is_world = world.groups == "world"
        group = "world" if is_world else "g" + ",".join(map(str, sorted(live)))
        number = self.number(group)
        operation = world.operation
        if operation == "mix":
            operation = rng.choice(["all_reduce", "barrier", "broadcast", "all_gather"])
        entries_ns = {rank: max(t + self.skew_ns(rank, t), self.free_ns[rank] + 100)
                      for rank in live}
        for rank in live:
            wait_ns = self.tail()
            wait_ns = world.floor_ns + wait_ns + self.growth_ns(rank, t)
            exit_ns = waited_for_ns(operation, rank, entries_ns) + wait_ns
            self.free_ns[rank] = exit_ns
            peers = "" if is_world else ",".join(str(x) for x in live if x != rank)
            self.record_interval(("collective", index, rank), rank, {
                "group": group, "seq": number, "op": operation, "bytes": 0, "peers": peers,
            }, entries_ns[rank], exit_ns)

    def message(self, index, t):
        rng, world = self.rng, self.world
        live = self.live_ranks(t)
        if len(live) < 2:
            return
        if world.messages == "oneway":
            sender, receiver = sorted(rng.sample(live, 2))
        elif world.messages == "ring":
            sender = rng.choice(live)
            receiver = live[(live.index(sender) + 1) % len(live)]
        else:
            sender, receiver = rng.sample(live, 2)
        common = {"group": f"m{sender}-{receiver}", "bytes": 8}
        common["seq"] = self.number(common["group"])
        send_ns = max(t, self.free_ns[sender] + 100)
        sent_ns = send_ns + world.floor_ns * .1 + self.tail()
        receive_ns = max(t + rng.uniform(-1, 1) * world.skew_ns, self.free_ns[receiver] + 100, 0)
        received_ns = max(receive_ns, send_ns) + world.floor_ns + self.tail()
        received_ns += self.growth_ns(receiver, t)
        self.free_ns[sender] = sent_ns
        self.free_ns[receiver] = received_ns
        self.record_interval(("send", index, sender), sender, dict(
            common, op="send", peers=str(receiver)), send_ns, sent_ns)
        self.record_interval(("receive", index, receiver), receiver, dict(
            common, op="recv", peers=str(sender)), receive_ns, received_ns)


def waited_for_ns(operation, rank, entries_ns):
    """When everybody has entered whom a rank waits for."""
    own_ns, last_ns = entries_ns[rank], max(entries_ns.values())
    root = min(entries_ns)
    if operation in ALL_WAIT:
        return last_ns
    if operation in ROOT_WAITS:
        return last_ns if rank == root else own_ns
    return max(entries_ns[root], own_ns)
