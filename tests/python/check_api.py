# SPDX-License-Identifier: Apache-2.0
"""check_api.py DIR: holds the tables of a recording of api.py against what that does."""
import collections
import csv
import json
import os
import sys


def table(name):
    with open(os.path.join(sys.argv[1], "tables", name), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


host = table("host.csv")
by_name = collections.defaultdict(list)
for row in host:
    by_name[row["name"]].append(row)
counts = {name: len(rows) for name, rows in by_name.items()}


def expect(what, found, wanted):
    if found != wanted:
        sys.exit(f"FAIL: {what}: {found}, not {wanted}")


def ends(row):
    return int(row["start_ns"]), int(row["end_ns"])


def kinds(name):
    return [row["kind"] for row in by_name[name]]


for name, n in {"__main__.bare": 4, "named": 1, "inner": 1, "fails": 1, "unprintable ü": 1, "measured": 1,
                "plain": 400 + 4 * 3, "unseen": 0, "step 0": 0, "step 1": 0, "step 4": 0, "step 8": 0, "step 2": 1,
                "step 3": 1, "step 6": 1, "step 7": 1, "schedule": 2}.items():
    expect(f"intervals of {name}", counts.get(name, 0), n)
expect("depths", [row["depth"] for row in sorted(by_name["__main__.bare"], key=ends)], ["0", "1", "2", "3"])
expect("args", by_name["inner"][0]["args"], "path=a b bytes=12")
expect("args of a decorator", by_name["named"][0]["args"], "size=3")
expect("args that raise", by_name["unprintable ü"][0]["args"], "value")
outer, inner = ends(by_name["named"][0]), ends(by_name["inner"][0])
expect("nesting", outer[0] <= inner[0] <= inner[1] <= outer[1], True)
expect("rank", {row["rank"] for row in host}, {"3"})
expect("kind of a window", kinds("measured"), ["Window"])
expect("threads", sorted(row["thread"] for row in by_name["plain"] if row["thread"])[::100],
       [f"thread {i}" for i in range(4)])

# Tasks cross each other, and nothing on the thread does.
for name, n in {"task": 4, "coroutine": 4, "async with": 4, "on a stack": 4, "__main__.generator": 2}.items():
    expect(f"kinds of {name}", kinds(name), ["Async"] * n)
tasks = [ends(row) for row in by_name["task"]]
expect("tasks at once", max(begin for begin, _ in tasks) < min(end for _, end in tasks), True)
with open(os.path.join(sys.argv[1], "run.json"), encoding="utf-8") as file:
    run = json.load(file)
expect("crossing", run["totals"]["crossing"], 0)
expect("closes", run["closes"], True)
expect("process", (run["processes"][0]["runtime"], run["processes"][0]["world_size"]), ("api", 8))

instants = collections.Counter((row["name"], row["value"]) for row in table("instants.csv"))
expect("instants", instants[("here", "")], 1)
expect("instants when stopped", instants[("unseen", "")], 0)
expect("annotations", instants[("model", "granite")], 1)
expect("args of tasks", sorted(value for name, value in instants if name == "task"), [f"number={i}" for i in range(4)])
expect("counter", [(row["name"], row["value"]) for row in table("counters.csv")], [("depth", "2.5")])
steps = sorted(row["name"] for row in host if row["kind"] == "Step")
expect("steps", steps, [f"ProfilerStep#{i}" for i in (100, 2, 3, 6, 7)])
with open(os.path.join(sys.argv[1], "trace.json"), encoding="utf-8") as file:
    places = {site["name"]: site for site in json.load(file)["sites"]}
expect("file", places["inner"]["file"], "api.py")
with open(os.path.join(os.path.dirname(__file__), "api.py"), encoding="utf-8") as file:
    line = file.read().split("\n").index('    with flextrace.scope("inner", path="a b", bytes=12):') + 1
expect("line", places["inner"]["line"], line)
