# SPDX-License-Identifier: Apache-2.0
"""Traces of ranks as the torch profiler writes them, by a seed: calls in calls, steps, launches of which some launch nothing,
kernels of several streams that overlap, collectives of several groups that interleave and that not all ranks reach."""
import json
import random

COLLECTIVES = ("allreduce", "_allgather_base", "_reduce_scatter_base")
NAMES = {
    "cpu_op": ("aten::mm", "aten::add", "aten::linear", "op;x"),
    "user_annotation": ("forward", "backward"),
    "python_function": ("a.py(3): f", "b.py(7): g"),
}
LAUNCHES = ("cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync")
KERNELS = ("gemm_0", "gemm_1", "relu", "conv_1.0", "conv_1.1", "zzz-12_3")
COPIES = ("Memcpy HtoD (Pageable -> Device)", "Memcpy DtoH (Device -> Pinned)", "Memcpy DtoD (Device -> Device)")


class Rank:
    def __init__(self, rank, collectives, rng):
        self.rank, self.rng, self.events = rank, rng, []
        self.waiting = [one for one in collectives if rank in one["ranks"]]
        self.free_ns = {stream: 0 for stream in rng.sample([7, 13, 20, 24], rng.randrange(1, 5))}
        self.overlaps = rng.random() < 0.3  # work of one stream, as of a graph
        self.correlation = 100_000 * rank
        for thread in range(1, rng.randrange(2, 5)):
            self.thread(thread)

    def add(self, category, name, start_ns, end_ns, pid, tid, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start_ns / 1000,
                            "dur": (end_ns - start_ns) / 1000, "args": args})

    def call(self, category, name, start_ns, end_ns, tid, **args):
        self.add(category, name, start_ns, end_ns, 500 + self.rank, tid, **args)

    def work(self, start_ns, stream, correlation):
        rng, end_ns = self.rng, start_ns + self.rng.choice((0, 1, 1000, *[self.rng.randrange(1, 30_000)] * 7))
        category, name, args, kind = "kernel", rng.choice(KERNELS), {}, rng.random()
        if self.waiting and kind < 0.35:
            one = self.waiting.pop(0)
            name = "ncclDevKernel_" + one["op"]
            args = {"Collective name": one["op"], "Seq": one["seq"], "In msg nelems": 64, "Out msg nelems": 64, "dtype": "Float",
                    "Group size": len(one["ranks"]), "Process Group Name": one["group"], "Process Group Ranks": json.dumps(one["ranks"])}
        elif kind > 0.9:
            category, name, args = "gpu_memset", "Memset (Device)", {"bytes": 64}
        elif kind > 0.75:
            category, name, args = "gpu_memcpy", rng.choice(COPIES), {"bytes": 64}
        elif kind > 0.7:
            name = "ncclKernel_other"
        self.add(category, name, start_ns, end_ns, 0, stream, correlation=correlation, device=0, stream=stream, **args)
        self.free_ns[stream] = max(self.free_ns[stream], end_ns)

    def launch(self, start_ns, end_ns, tid):
        self.correlation += 1
        self.call("cuda_runtime", self.rng.choice(LAUNCHES), start_ns, end_ns, tid, correlation=self.correlation)
        for _ in range(self.rng.choice((0, 1, 1, 1, 1, 1, 1, 1, 2))):
            stream = self.rng.choice(list(self.free_ns))
            start = self.rng.choice((start_ns, end_ns, end_ns)) + self.rng.choice((0, 1, 500, 3000, 60_000, -50, self.rng.randrange(20_000)))
            self.work(max(start, 0, 0 if self.overlaps else self.free_ns[stream]), stream, self.correlation)

    def calls(self, start_ns, end_ns, tid, depth):
        """Calls within [start_ns, end_ns], none of which lasts as long."""
        rng, at_ns = self.rng, start_ns
        while rng.random() < 0.85:
            at_ns += rng.choice((0, 1, 50, rng.randrange(max(1, (end_ns - start_ns) // 4))))
            until_ns = min(at_ns + rng.randrange(1, max(2, (end_ns - start_ns) // 2)), end_ns - (at_ns == start_ns))
            if until_ns <= at_ns:
                break
            if depth > 4 or rng.random() < 0.3:
                self.launch(at_ns, until_ns, tid)
            else:
                category = rng.choice(("cpu_op", "cpu_op", "cpu_op", "user_annotation", "python_function"))
                self.call(category, rng.choice(NAMES[category]), at_ns, until_ns, tid)
                self.calls(at_ns, until_ns, tid, depth + 1)
            at_ns = until_ns

    def thread(self, tid):
        at_ns = self.rng.randrange(5000)
        for step in range(self.rng.randrange(1, 8)):
            until_ns = at_ns + self.rng.randrange(2000, 200_000)
            if tid == 1 and self.rng.random() < 0.8:
                self.call("user_annotation", f"ProfilerStep#{step}", at_ns, until_ns, tid)
            self.calls(at_ns, until_ns, tid, 0)
            at_ns = until_ns + self.rng.choice((0, 1, 10_000))
        stream = self.rng.choice(list(self.free_ns))
        self.work(self.free_ns[stream] + self.rng.randrange(50_000), stream, 0)  # nobody knows what launched it


def make(seed):
    """Lists of events, by rank."""
    rng = random.Random(seed)
    ranks = list(range(rng.randrange(1, 5)))
    groups = [("0", ranks), ("1", ranks[-2:])]
    numbers, collectives = {"0": 0, "1": 0}, []
    for _ in range(rng.randrange(25)):
        group, members = rng.choice(groups)
        collectives.append({"group": group, "ranks": members, "op": rng.choice(COLLECTIVES), "seq": numbers[group]})
        numbers[group] += 1
    made = [Rank(rank, collectives, rng).events for rank in ranks]
    for events in made:
        rng.shuffle(events)
    return made


def write(path, rank, n_ranks, events):
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "baseTimeNanoseconds": 0, "traceEvents": events,
                   "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": n_ranks}}, file)
