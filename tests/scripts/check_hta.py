#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_hta.py DIR: holds the files of single ranks that --compat=hta wrote into DIR against what the analyses of
Holistic Trace Analysis look for, and against the tables there. Says every violation; exits 1 if there is one."""
import collections
import csv
import glob
import gzip
import json
import os
import re
import sys

LAUNCHES = {"cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync", "cudaMemsetAsync"}
WORK = {"kernel", "gpu_memcpy", "gpu_memset"}  # whose pauses are idle time
# How it tells by the name what work is for, in this order.
TYPES = (("communication", re.compile(r"nccl|hip|hccl|.*ncclKernel")), ("memory", re.compile(r"(hip)?Memcpy|(hip)?Memset|dma")),
         ("none", re.compile(r".*(Memcpy|Memset|dma|Sync|cuda.*LaunchKernel)|Stream Wait|runFunction|job_exe|packet|pe_exe")))
n_violations = 0


def expect(what, value, known):
    global n_violations
    if value != known:
        n_violations += 1
        print(f"{what}: {value}, known is {known}")


def type_of(name):
    return next((kind for kind, pattern in TYPES if pattern.match(name)), "compute")


def union_ns(rows):
    """Length of the union of intervals; their ends are whole ns."""
    total = end = 0
    for start, stop in sorted((round(row["ts"] * 1000), round((row["ts"] + row["dur"]) * 1000)) for row in rows):
        total += max(0, stop - max(start, end))
        end = max(end, stop)
    return total


def read(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        text = file.read()
    rank = int(re.search(r'"rank":\s+(\d+)', text).group(1))
    return rank, [event for event in json.loads(text)["traceEvents"] if event["ph"] == "X"]


def check(rank, events, tables):
    work = [event for event in events if event["args"].get("stream", -1) >= 0]
    calls = collections.Counter(event["args"]["correlation"] for event in events
                                if event["name"] in LAUNCHES and "correlation" in event["args"])
    waits = [event for event in events if event["name"] == "Context Sync"]
    expect(f"rank {rank}: categories of work", {event["cat"] for event in work} - WORK, set())
    expect(f"rank {rank}: calls with one correlation", max(calls.values(), default=1), 1)
    phases = collections.Counter(event["args"]["correlation"] for event in events if event["cat"] == "phase")
    expect(f"rank {rank}: further rows of control blocks with one correlation", max(phases.values(), default=1), 1)
    launched = collections.Counter(event["args"]["correlation"] for event in work if "correlation" in event["args"])
    expect(f"rank {rank}: rows of the host for further rows of control blocks, that have no such row", phases - launched,
           collections.Counter())
    launched -= phases
    expect(f"rank {rank}: work whose launch is not there", [correlation for correlation in launched if correlation not in calls], [])
    expect(f"rank {rank}: launched work", sum(launched.values()),
           sum(int(row["works"]) for row in tables["launches"] if not row["name"]))
    expect(f"rank {rank}: waits", [(e["ts"], e["dur"], e["args"]["correlation"]) for e in waits],
           [(e["ts"], e["dur"], e["args"]["correlation"]) for e in events if e["name"] == "cudaDeviceSynchronize"])
    for column, kind in (("compute_ns", "compute"), ("communication_ns", "communication"), ("memory_ns", "memory")):
        devices = collections.defaultdict(list)
        for event in work:
            if type_of(event["name"]) == kind:
                devices[event["pid"]].append(event)
        expect(f"rank {rank}: {column}", sum(union_ns(rows) for rows in devices.values()),
               sum(int(row[column]) for row in tables["breakdown"] if row["device"]))


def main():
    paths = sorted(glob.glob(os.path.join(sys.argv[1], "trace.rank*.pt.trace.json.gz")))
    expect("no file of a rank", not paths, False)
    for path in paths:
        rank, events = read(path)
        tables = {}
        for name in ("launches", "breakdown"):
            with open(os.path.join(sys.argv[1], "tables", name + ".csv"), newline="", encoding="utf-8") as file:
                tables[name] = [row for row in csv.DictReader(file) if row["rank"] == str(rank)]
        check(rank, events, tables)
    return 1 if n_violations else 0


if __name__ == "__main__":
    sys.exit(main())
