# SPDX-License-Identifier: Apache-2.0
"""What devices really do: operations in queues, in true time (ns since the world's begin)."""
import math
from types import SimpleNamespace

from draws import length_of, log_uniform, tail_of

FULL_QUEUE = 8  # operations in flight where arrivals are "full"


class Arrivals:
    """When programs submit. Each world keeps to one kind of arrivals."""

    def __init__(self, rng, world):
        self.rng = rng
        self.kind = world.arrivals
        self.gap_ns = world.duration_ns / world.n_operations
        self.t = 0.0
        self.completions = [[] for _ in range(world.n_queues)]

    def next(self, index, queue):
        rng, gap_ns = self.rng, self.gap_ns
        if self.kind == "sync":  # one at a time
            last = self.completions[queue][-1] if self.completions[queue] else 0.0
            return last + rng.expovariate(1 / gap_ns)
        if self.kind == "full":
            done = self.completions[queue]
            free = done[-FULL_QUEUE] if len(done) >= FULL_QUEUE else 0
            submit = max(self.t, free) + rng.uniform(200, 2000)
            self.t = max(self.t, submit)
            return submit
        if self.kind == "open":
            self.t += rng.expovariate(1 / gap_ns)
        elif self.kind == "rhythm":
            self.t += gap_ns
        elif self.kind == "burst":
            if index % 50 == 0:
                self.t += rng.expovariate(1 / (gap_ns * 50))
            self.t += log_uniform(rng, 500, 5000)
        elif self.kind == "gap":
            self.t += (rng.expovariate(1 / (gap_ns * .02)) if rng.random() > .01
                       else rng.expovariate(1 / (gap_ns * 100)))
        else:
            raise ValueError(f"no such arrivals: {self.kind}")
        return self.t


def phases_of(rng):
    """How the four phases between five stamps share an operation's time."""
    z = rng.random()
    if z < .6:
        parts = [rng.random() for _ in range(4)]
        total = sum(parts)
        return [x / total for x in parts]
    return [0, 0, 1, 0] if z < .8 else [.01, .01, .97, .01]


def operations(rng, world, floors_ns):
    """All operations: submit_ns, five stamped instants (times_ns), complete_ns."""
    submit_tail = tail_of(rng, world.submit_tail, world.submit_tail_ns)
    complete_tail = tail_of(rng, world.complete_tail, world.complete_tail_ns)
    length = length_of(rng, world.lengths, world.length_ns)
    arrivals = Arrivals(rng, world)
    free_ns = [0.0] * world.n_queues
    done = []
    for i in range(world.n_operations):
        queue = (i if world.arrivals == "rhythm" else rng.randrange(world.n_queues))
        queue %= world.n_queues
        submit_ns = arrivals.next(i, queue)
        begin_ns = max(submit_ns + floors_ns[0] + submit_tail(),
                       free_ns[queue] + (rng.uniform(0, 3) if rng.random() < .7
                                         else rng.expovariate(1 / 2000.)))
        length_ns = length()
        times_ns = [begin_ns]
        for part in phases_of(rng):
            times_ns.append(times_ns[-1] + part * length_ns)
        free_ns[queue] = times_ns[-1]
        visible_ns = times_ns[-1] + floors_ns[1] + complete_tail()
        if world.poll_ns:
            visible_ns = math.ceil(visible_ns / world.poll_ns) * world.poll_ns
            visible_ns += rng.uniform(50, 500)
        complete_ns = visible_ns + rng.uniform(1, 50)
        arrivals.completions[queue].append(complete_ns)
        done.append(SimpleNamespace(index=i, queue=queue, domain=queue % world.n_domains,
                                    submit_ns=submit_ns, times_ns=times_ns,
                                    complete_ns=complete_ns))
    if world.batch > 1:
        complete_in_batches(rng, done, world.batch)
    return done


def complete_in_batches(rng, done, batch):
    """Programs see the completions of each queue some at a time. Submissions do not wait."""
    queues = {}
    for operation in done:
        queues.setdefault(operation.queue, []).append(operation)
    for queue in queues.values():
        for at in range(0, len(queue), batch):
            group = queue[at:at + batch]
            last_ns = max(operation.complete_ns for operation in group)
            for operation in group:
                operation.complete_ns = last_ns + rng.uniform(0, 100)


def counter_reads(rng, world, end_ns):
    """Reads of counters: [(before_ns, read_ns, after_ns, domain)], in order."""
    n = min(3000, max(1, int(end_ns / 1e9 * world.reads_per_s)))
    reads = []
    for i in range(n):
        # the condition is drawn first
        at_ns = rng.random() * end_ns if rng.random() < .2 else (i + .5) / n * end_ns
        took_ns = world.read_ns * (1 + rng.expovariate(1.))
        reads.append((at_ns, at_ns + max(took_ns * rng.uniform(.02, .98), 1),
                      at_ns + took_ns + 2, rng.randrange(world.n_domains)))
    return sorted(reads)


def true_dispatch_ns(done):
    """The longest that an operation took to start, or its completion to be seen."""
    free_ns, longest_ns = {}, 0
    for operation in done:
        ready_ns = max(operation.submit_ns, free_ns.get(operation.queue, -1e30))
        longest_ns = max(longest_ns, operation.times_ns[0] - ready_ns,
                         operation.complete_ns - operation.times_ns[4])
        free_ns[operation.queue] = operation.times_ns[4]
    return longest_ns
