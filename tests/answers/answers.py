#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""answers.py FLEXTRACE N [FIRST]: converts N random traces and holds each table against what docs/formats.md defines, counted
here from the traces themselves, interval by interval. Says every difference; exits 1 if there is one."""
import collections
import csv
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import random_trace  # noqa: E402

n_differences = 0


def expect(what, value, known):
    global n_differences
    if value != known:
        n_differences += 1
        print(f"{what} is {value}, by its definition {known}")


# -- the trace ------------------------------------------------------------------------------------

CLASSES = ("compute", "communication", "memory")


class Interval:
    def __init__(self, rank, event):
        self.rank, self.name, self.category, self.args = str(rank), event["name"], event["cat"], event["args"]
        self.start, self.end = round(event["ts"] * 1000), round(event["ts"] * 1000) + round(event["dur"] * 1000)
        self.thread = event["tid"]
        self.is_step = self.name.startswith("ProfilerStep#")
        self.is_call = not self.is_step and self.category != "python_function"
        self.around = self.launch = None

    def time(self):
        return self.end - self.start

    def up(self, wanted):
        """The innermost interval around this one that is wanted."""
        at = self.around
        while at and not wanted(at):
            at = at.around
        return at

    def stack(self):
        """Its name and those around it, the outermost first; steps are none."""
        names = self.around.stack() if self.around else []
        return names if self.is_step else names + [self.name.replace(";", "%3B")]

    def kind(self):
        return "kernel" if self.category == "kernel" else self.name[:11].strip() if self.category == "gpu_memcpy" else "Memset"

    def work_class(self):
        if self.category != "kernel":
            return "memory"
        return "communication" if self.name.startswith("nccl") else "compute"


def read(made):
    calls, works = [], []
    for rank, events in enumerate(made):
        for event in events:
            (works if "stream" in event["args"] else calls).append(Interval(rank, event))
    calls.sort(key=lambda call: (call.start, -call.end))
    open_calls, launches = collections.defaultdict(list), {}
    for call in calls:
        stack = open_calls[call.rank, call.thread]
        while stack and stack[-1].end <= call.start:
            stack.pop()
        call.around = stack[-1] if stack else None
        stack.append(call)
        launches[call.rank, call.args.get("correlation")] = call
    for work in works:
        work.launch = launches.get((work.rank, work.args["correlation"] or -1))
    return calls, works


def union(intervals):
    merged = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def length(intervals):
    return sum(end - start for start, end in union(intervals))


def span(of):
    return [(one.start, one.end) for one in of]


def common(left, right):
    return length(left) + length(right) - length(left + right)


# -- tables ---------------------------------------------------------------------------------------

def group(of, key):
    groups = collections.defaultdict(list)
    for one in of:
        groups[key(one)].append(one)
    return groups


def check_groups(name, rows, groups, key):
    """Calls, sum, least and most of each group, and that there are no others."""
    expect(f"{name}: keys", sorted(key(row) for row in rows), sorted(groups))
    for row in rows:
        times = [one.time() for one in groups.get(key(row), [])]
        if times:
            expect(f"{name} {key(row)}", [int(row[column]) for column in ("calls", "total_ns", "min_ns", "max_ns")],
                   [len(times), sum(times), min(times), max(times)])


def check_runtime(rows, calls):
    calls = [call for call in calls if not call.is_step]
    check_groups("runtime", rows, group(calls, lambda call: (call.rank, call.name)), lambda row: (row["rank"], row["name"]))
    own = collections.Counter()
    for call in calls:
        own[call.rank, call.name] += call.time()
        outer = call.up(lambda one: not one.is_step)
        if outer:
            own[outer.rank, outer.name] -= call.time()
    for row in rows:
        expect(f"runtime {row['name']}: self_ns", int(row["self_ns"]), own[row["rank"], row["name"]])


def check_key_averages(rows, calls, works):
    """Of the whole trace, without windows."""
    known = collections.defaultdict(collections.Counter)
    for call in calls:
        if not call.is_call:
            continue
        known[call.rank, call.name].update(calls=1, host_self_ns=call.time(), host_total_ns=call.time())
        outer = call.up(lambda one: one.is_call)
        if outer:
            known[outer.rank, outer.name]["host_self_ns"] -= call.time()
    for work in works:
        known[work.rank, "device", work.kind(), work.name].update(calls=1, device_self_ns=work.time(), device_total_ns=work.time())
        if not work.launch:
            known[work.rank, ""].update(calls=1, device_self_ns=work.time(), device_total_ns=work.time())
            continue
        own = work.launch.up(lambda one: one.category == "cpu_op") or work.launch
        known[own.rank, own.name]["device_self_ns"] += work.time()
        at = work.launch
        while at:
            known[at.rank, at.name]["device_total_ns"] += work.time()
            at = at.up(lambda one: one.is_call)
    rows = [row for row in rows if row["rank"] and not row["window"]]
    expect("key_averages: lines", len(rows), len(known))
    for row in rows:
        key = (row["rank"], "device", row["kind"], row["name"]) if row["side"] == "device" else (row["rank"], row["name"])
        for column in ("calls", "host_self_ns", "host_total_ns", "device_self_ns", "device_total_ns"):
            expect(f"key_averages {key}: {column}", int(row[column] or 0), known[key][column])


def idle_of(works):
    """By cause; None: works that begin at once and last as long, of which nobody knows the first."""
    idle, reach = collections.Counter(), min(work.start for work in works)
    for work in sorted(works, key=lambda one: (one.start, -one.end)):
        gap = work.start - reach
        if gap > 0 and sum((one.start, one.end) == (work.start, work.end) for one in works) > 1:
            return None
        if gap > 0:
            near = "kernel_wait_ns" if gap < 30_000 else "other_idle_ns"
            idle["other_idle_ns" if not work.launch else "host_wait_ns" if work.launch.start > reach else near] += gap
        reach = max(reach, work.end)
    return idle


def check_breakdown(rows, works):
    for row in rows:
        mine = [work for work in works if work.rank == row["rank"]]
        if not mine:
            continue  # the sum
        of = {name: span(work for work in mine if work.work_class() == name) for name in CLASSES}
        wall = max(work.end for work in mine) - min(work.start for work in mine)
        known = {"wall_ns": wall, "busy_ns": length(span(mine)), "idle_ns": wall - length(span(mine)), "exposed_prepare_ns": 0,
                 "compute_ns": length(of["compute"]), "communication_ns": length(of["communication"]), "memory_ns": length(of["memory"]),
                 "exposed_communication_ns": length(of["compute"] + of["communication"]) - length(of["compute"]),
                 "exposed_memory_ns": length(span(mine)) - length(of["compute"] + of["communication"])}
        idle = idle_of(mine)
        for cause in ("host_wait_ns", "kernel_wait_ns", "other_idle_ns") if idle is not None else ():
            known[cause] = idle[cause]
        for column, value in known.items():
            expect(f"breakdown of rank {row['rank']}: {column}", int(row[column]), value)


def check_launches(rows, calls, works):
    launched = [work for work in works if work.launch]
    names = {work.launch.name for work in launched}
    for row in rows:
        if not row["rank"]:
            continue
        mine = [work for work in launched if work.rank == row["rank"] and row["name"] in ("", work.launch.name)]
        delays = [work.start - work.launch.start for work in mine]
        n_calls = sum(call.rank == row["rank"] and call.name in names and row["name"] in ("", call.name) for call in calls)
        expect(f"launches {row['rank']} {row['name']}",
               [int(row[column]) for column in ("calls", "launches", "works", "total_ns", "early", "before_return")],
               [n_calls, len({work.launch for work in mine}), len(mine), sum(delays), sum(delay < 0 for delay in delays),
                sum(work.start < work.launch.end for work in mine)])


def check_queues(rows, works):
    for row in rows:
        mine = [work for work in works if work.launch and work.rank == row["rank"] and str(work.thread) == row["queue"]]
        changes = sorted([(work.launch.start, 0, 1) for work in mine] + [(work.start, 1, -1) for work in mine])
        waiting, lengths, empty = 0, [0], 0
        for (at, _, change), (until, _, _) in zip(changes, changes[1:] + [changes[-1]]):
            waiting += change
            lengths.append(waiting)
            empty += until - at if waiting <= 0 else 0
        expect(f"queue_length {row['rank']} {row['queue']}",
               [int(row[column]) for column in ("works", "max_length", "min_length", "empty_ns")],
               [len(mine), max(lengths), min(lengths), empty])


def check_stacks(rows, calls, works):
    known, told = collections.Counter(), collections.Counter()
    for call in calls:
        if not call.is_step:
            known["host", call.rank, ";".join(call.stack())] += call.time()
            outer = call.up(lambda one: not one.is_step)
            if outer:
                known["host", call.rank, ";".join(outer.stack())] -= call.time()
    for work in works:
        known["device", work.rank, ";".join((work.launch.stack() if work.launch else []) + [work.name])] += work.time()
    for row in rows:
        told[row["kind"], row["rank"], row["stack"]] += int(row["host_self_ns"] or row["device_ns"])
    expect("stacks", sorted(told.items()), sorted((stack, time) for stack, time in known.items() if time))


def check_communication(rows, works):
    for row in rows:
        if row["size_bytes"] or row["op"]:
            continue
        mine = [work for work in works if work.work_class() == "communication" and row["rank"] in ("", work.rank)]
        hidden = sum(common(span([work]), span(one for one in works if one.rank == work.rank and one.work_class() == "compute"))
                     for work in mine)
        total = sum(work.time() for work in mine)
        expect(f"communication of rank {row['rank']}", [int(row[column]) for column in ("count", "total_ns", "hidden_ns", "exposed_ns")],
               [len(mine), total, hidden, total - hidden])


def check_waits(rows, works):
    """Of collectives that all of their ranks reached, if all of them may know that."""
    told = {(row["rank"], row["start_ns"], row["end_ns"], row["number"]): row["wait_ns"] for row in rows}
    collectives = group((work for work in works if "Seq" in work.args),
                        lambda work: (work.args["Process Group Ranks"], work.args["Process Group Name"], work.args["Seq"], work.name))
    for key, parts in collectives.items():
        if len(parts) != len(json.loads(key[0])) or len(parts) == 1:
            continue
        last = max(work.start for work in parts)
        for work in parts:
            expect(f"wait of {key} on rank {work.rank}", told.get((work.rank, str(work.start), str(work.end), str(key[2]))),
                   str(min(last - work.start, work.time())))


def check_paths(rows):
    kinds = ("host", "launch_delay", "queue_delay", "compute", "communication", "memory", "prepare", "wait")
    for row in rows:
        expect(f"critical path of {row['step']} on rank {row['rank']}", sum(int(row[kind + "_ns"]) for kind in kinds), int(row["wall_ns"]))
        for part, kind in (("host_outside_ns", "host_ns"), ("wait_return_ns", "wait_ns")):
            expect(f"{part} of {row['step']} on rank {row['rank']}", 0 <= int(row[part]) <= int(row[kind]), True)


def check(flextrace, seed, folder):
    made = random_trace.make(seed)
    paths = [os.path.join(folder, f"rank{rank}.json") for rank in range(len(made))]
    for rank, events in enumerate(made):
        random_trace.write(paths[rank], rank, len(made), events)
    out = os.path.join(folder, "out")
    subprocess.run([flextrace, "convert", "--quiet", "--no-align", "--formats=csv", "--output-dir", out, *paths], check=True)

    def rows(name):
        path = os.path.join(out, "tables", name + ".csv")
        if not os.path.exists(path):  # there is no row
            return []
        with open(path, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    calls, works = read(made)
    check_groups("kernels", rows("kernels"), group(works, lambda work: (work.rank, work.kind(), work.name)),
                 lambda row: (row["rank"], row["kind"], row["name"]))
    check_groups("kernels_by_queue", rows("kernels_by_queue"), group(works, lambda work: (work.rank, str(work.thread), work.kind())),
                 lambda row: (row["rank"], row["queue"], row["kind"]))
    check_runtime(rows("runtime"), calls)
    check_key_averages(rows("key_averages"), calls, works)
    check_breakdown(rows("breakdown"), works)
    check_launches(rows("launches"), calls, works)
    check_queues(rows("queue_length"), works)
    check_stacks(rows("stacks"), calls, works)
    check_communication(rows("communication"), works)
    check_waits(rows("collectives"), works)
    check_paths(rows("critical_path_summary"))


def main():
    flextrace, n, *first = sys.argv[1:]
    for seed in range(int(first[0]) if first else 0, int(n) + (int(first[0]) if first else 0)):
        before = n_differences
        with tempfile.TemporaryDirectory() as folder:
            check(flextrace, seed, folder)
        if n_differences > before:
            print(f"in all {n_differences - before} of the trace with seed {seed}")
    sys.exit(n_differences > 0)


main()
