#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_ranks.py DIR: holds the files of single ranks in DIR against what TensorBoard's torch plug-in and Holistic
Trace Analysis do with them. Shares no code with what writes them. Says every violation and what it found of each rank;
exits 1 if there is a violation, 2 if there is no file."""
import gzip
import json
import os
import re
import sys

WORKER = re.compile(r"^(.*?)(\.\d+)?\.pt\.trace\.json(?:\.gz)?$")
RANK = re.compile(r'"rank":\s+(\d+)')  # what Holistic Trace Analysis looks for: a space belongs to it
MAX_DEVICES = 64
RUNTIME = {"cuda_runtime", "privateuse1_runtime", "runtime"}
KERNEL = {"kernel"}
DEVICE = KERNEL | {"gpu_memcpy", "gpu_memset", "memcpy", "memset"}
NO_WORK = {"gpu_user_annotation", "cuda_sync", "cuda_profiler_range"}  # on the rows of devices
OPERATION = {"cpu_op", "operator", "user_annotation", "python"}
GLOO = {"gloo:" + op for op in ("broadcast", "reduce", "all_reduce", "all_gather", "reduce_scatter")}
SIZES = {"long int": 8, "float": 4, "int": 4, "c10::Half": 2, "c10::BFloat16": 2, "unsigned char": 1}
n_violations = 0


def complain(name, text):
    global n_violations
    n_violations += 1
    print(f"{name}: {text}")


def is_whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


class File:
    def __init__(self, directory, name):
        self.name = name
        self.worker, span = WORKER.match(name).groups()
        if span:
            self.complain("the name has a time in it")
        with gzip.open(os.path.join(directory, name), "rt", encoding="utf-8") as file:
            text = file.read()
        root = json.loads(text)
        ranks = RANK.findall(text)
        self.rank = int(ranks[0]) if ranks else None
        self.info = root.get("distributedInfo")
        self.base = root.get("baseTimeNanoseconds")
        self.devices = root.get("deviceProperties")
        self.events = [event for event in root["traceEvents"] if event.get("ph") != "M"]
        self.named = {(event["pid"], event["tid"]) for event in root["traceEvents"]
                      if event.get("ph") == "M" and event["name"] == "thread_name"}
        self.intervals = [event for event in self.events if event.get("ph") == "X"]
        # made of a file of the torch profiler: what stood there comes out again, whatever it was
        self.is_told = any(event.get("args", {}).get("status") == "given" for event in self.intervals)
        self.steps = []
        self.collectives = []

    def complain(self, text):
        complain(self.name, text)

    def of(self, categories):
        return [event for event in self.intervals if event.get("cat", "").lower() in categories]

    def check_head(self):
        if self.info is not None and self.info.get("rank") != self.rank:
            self.complain("distributedInfo and the first \"rank\": N differ")
        if self.info is not None and not self.info.get("world_size", 0) >= 1:
            self.complain("no world_size")
        if not is_whole(self.base):
            self.complain("no baseTimeNanoseconds")
        if self.rank is not None and f"rank{self.rank}" not in self.worker:
            self.complain(f"is of rank {self.rank}")

    def check_event(self, event):
        if not isinstance(event.get("name"), str):
            self.complain("an event without a name")
        if not is_whole(event.get("pid")) or not is_whole(event.get("tid")):
            self.complain(f"pid or tid is no number: {event}")
        if not isinstance(event.get("ts"), (int, float)) or event["ts"] < 0:
            self.complain(f"no ts: {event}")
        if event["ph"] != "X":
            return
        if not isinstance(event.get("cat"), str):
            self.complain(f"an interval without a category: {event}")
        if not isinstance(event.get("dur"), (int, float)) or event["dur"] < 0:
            self.complain(f"no dur: {event}")

    def check_device(self):
        for event in self.of(DEVICE):
            args = event.get("args", {})
            if not is_whole(args.get("stream")) or args["stream"] < (0 if self.is_told else 1):
                self.complain(f"device work without a stream from 1 on: {event}")
            if args.get("device") != event["pid"] or not 0 <= event["pid"] < MAX_DEVICES:
                self.complain(f"pid of device work is not its device below {MAX_DEVICES}: {event}")
            elif not self.is_told and not any(d.get("id") == event["pid"] for d in self.devices or []):
                self.complain(f"device without properties: {event}")
        for event in self.intervals:
            if event.get("cat", "").lower() in DEVICE | NO_WORK:
                continue
            if "stream" in event.get("args", {}):
                self.complain(f"would be taken for a kernel: {event}")
            is_of_device = "device" in event.get("args", {}) or event.get("cat") == "firmware"
            if event["pid"] < MAX_DEVICES and not is_of_device:
                self.complain(f"host work with the pid of a device: {event}")

    def check_launches(self):
        runtimes = {}
        has_operations = any(event["name"] not in GLOO for event in self.of({"cpu_op"}))
        for event in self.of(RUNTIME):
            if not has_operations and event["args"].get("External id", 0) != 0:
                self.complain(f"launch of an operation, but there is none: {event}")
        for event in self.of(RUNTIME):
            runtimes[event["args"].get("correlation")] = event["args"].get("External id")
        for event in self.of(DEVICE):
            correlation = event["args"].get("correlation")
            if correlation in runtimes and runtimes[correlation] != event["args"].get("External id"):
                self.complain(f"launch and work differ in External id: {event}")

    def check_steps(self):
        for event in self.intervals:
            if event["name"].startswith("ProfilerStep#") and event["cat"].lower() in OPERATION:
                int(event["name"].split("#")[1])
                self.steps.append((event["ts"], event["ts"] + event["dur"], event["name"]))
        if not self.steps and not self.is_told:
            self.complain("no step")
        for before, after in zip(self.steps, self.steps[1:]):
            if after[0] < before[1]:
                self.complain(f"steps overlap: {before[2]}, {after[2]}")
        if len({step[2] for step in self.steps}) != len(self.steps):
            self.complain("two steps have one number")

    def check_collectives(self):
        others = {event["args"].get("External id") for event in self.intervals if event["name"] not in GLOO}
        seen = set()
        for event in self.of(OPERATION):
            if event["name"] not in GLOO:
                continue
            args = event["args"]
            identity = args.get("External id")
            if identity is None or identity in seen or identity in others or identity >= 2**53:
                self.complain(f"collective without an External id of its own: {event}")
            seen.add(identity)
            size = 0
            for dims, kind in zip(args.get("Input Dims", []), args.get("Input type", [])):
                n = SIZES[kind]
                for dim in dims:
                    n *= dim
                size += n
            if size != args.get("bytes"):
                self.complain(f"dims do not make its bytes: {event}")
            # as doubles, without any slack
            if not any(step[0] <= event["ts"] and event["ts"] + event["dur"] <= step[1] for step in self.steps):
                self.complain(f"collective in no step: {event}")
            self.collectives.append((event["name"], size))

    def check_rows(self):
        rows = {}
        for event in self.intervals:
            rows.setdefault((event["pid"], event["tid"]), []).append(event)
        for row, events in rows.items():
            ends = []
            if row not in self.named:
                self.complain(f"a row without a name: {row}")
            for event in sorted(events, key=lambda event: (event["ts"], -event["dur"])):
                end = event["ts"] + event["dur"]
                while ends and ends[-1] <= event["ts"]:  # as doubles, without any slack
                    ends.pop()
                if ends and end > ends[-1] and not self.is_told:
                    self.complain(f"intervals of one row cross: {event}")
                ends.append(end)

    def check(self):
        self.check_head()
        for event in self.events:
            self.check_event(event)
        self.check_device()
        self.check_launches()
        self.check_steps()
        self.check_collectives()
        self.check_rows()
        kernels = self.of(KERNEL)
        print(f"{self.worker}: rank {self.rank} of {(self.info or {}).get('world_size')}, {len(self.steps)} steps, "
              f"{len(kernels)} kernels, {len(self.collectives)} collectives of "
              f"{sum(size for _, size in self.collectives)} bytes")


def main():
    names = sorted(name for name in os.listdir(sys.argv[1]) if WORKER.match(name))
    files = [File(sys.argv[1], name) for name in names]
    if not files:
        print("no file of a rank")
        return 2
    for file in files:
        file.check()
    if len({file.rank for file in files}) != len(files):
        complain(sys.argv[1], "two files are of one rank")
    if len({file.base for file in files}) != 1:
        complain(sys.argv[1], "the times of ranks have different bases")
    # TensorBoard compares the i-th collective of all ranks, and gives up where they are not equally many.
    if len({len(file.collectives) for file in files}) != 1:
        complain(sys.argv[1], "ranks have different numbers of collectives")
    return 1 if n_violations else 0


if __name__ == "__main__":
    sys.exit(main())
