# SPDX-License-Identifier: Apache-2.0
"""loads.py DIR...: what conversions wrote is read as people read it: each CSV file by pandas without flags, with the
columns of its heading in each line; each whole number of JSON by readers that take it for a double; each column of
lines of JSON has one type; arrows are all drawn or counted; and rates of collectives are those of the table."""
import csv
import gzip
import json
import os
import sys

import pandas

csv.field_size_limit(1 << 24)
MOST_EXACT = 1 << 53
n_files = {".csv": 0, ".jsonl": 0, ".json": 0, ".gz": 0}
n_large = n_arrows = n_rates = 0


def fail(*words):
    print("FAIL:", *words)
    sys.exit(1)


def check_csv(path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    if any(len(row) != len(rows[0]) for row in rows):
        fail(path, "is not rectangular")
    frame = pandas.read_csv(path)
    if list(frame.shape) != [len(rows) - 1, len(rows[0])] or [str(name) for name in frame.columns] != rows[0]:
        fail(path, "has", frame.shape, "for pandas, instead of", (len(rows) - 1, len(rows[0])))


def parse(path, text):
    """JSON; a whole number that a double does not hold is a failure. baseTimeNanoseconds is a whole second, 2^9 times
    a number below 2^53."""
    def integer(digits):
        if int(float(digits)) != int(digits):
            fail(path, "has the number", digits)
        return int(digits)

    return json.loads(text, parse_int=integer)


def walk(path, value, key=""):
    if isinstance(value, dict):
        for name, member in value.items():
            walk(path, member, name)
    elif isinstance(value, list):
        for element in value:
            walk(path, element, key)
    elif isinstance(value, int) and abs(value) > MOST_EXACT and key != "baseTimeNanoseconds":
        fail(path, "has a large number as", key, value)


def check_lines(path):
    global n_large
    types = {}
    with open(path, encoding="utf-8") as file:
        for line in file.read().split("\n")[:-1]:
            row = parse(path, line)
            walk(path, row)
            for name, value in row.items():
                if value is None:
                    continue
                kind = "text" if isinstance(value, str) else "number"
                n_large += name == "start_ns" and kind == "text"
                # a cell of tt-metal's report may have what its tools wrote
                if types.setdefault(name, kind) != kind and os.path.basename(path) != "ops.jsonl":
                    fail(path, name, "is a text and a number")


def check_arrows(directory):
    global n_arrows
    with open(os.path.join(directory, "run.json"), encoding="utf-8") as file:
        run = json.load(file)
    for key in ("first_ns", "last_ns"):
        if not isinstance(run["totals"][key], str):
            fail(directory, key, "is no text")
    for file in run["files"]:
        if file["file"] in ("trace.json", "trace.pftrace"):
            left_out = sum(file.get("arrows_left_out", {}).values())
            if file.get("arrows", 0) + left_out != run["totals"]["flows"]:
                fail(directory, file, "of", run["totals"]["flows"], "arrows")
            n_arrows += left_out > 0


def check_rates(directory):
    """The counter of a rank is the sum of its collectives under way, as the table has them."""
    global n_rates
    path, edges, shown = os.path.join(directory, "tables", "collectives.csv"), {}, {}
    rows = list(csv.DictReader(open(path, encoding="utf-8"))) if os.path.exists(path) else []
    for row in rows:
        is_again = row["device"] == "" and any(other["pid"] == row["pid"] and other["device"] for other in rows)
        if row["bus_gbps"] and row["rank"] and not is_again:
            of = edges.setdefault((int(row["rank"]) + 1) * 1000, {})
            for time, sign in ((row["start_ns"], 1), (row["end_ns"], -1)):
                of[int(time)] = of.get(int(time), 0) + sign * float(row["bus_gbps"])
    with open(os.path.join(directory, "trace.json"), encoding="utf-8") as file:
        trace = json.load(file)
    for event in trace["traceEvents"]:
        if event["name"] == "collective bus bandwidth":
            time = trace["baseTimeNanoseconds"] + round(event["ts"] * 1000)
            shown.setdefault(event["pid"], []).append((time, event["args"]["GB/s"]))
    for pid, of in edges.items():
        value, want = 0, []
        for time in sorted(of):
            value += of[time]
            want.append((time, value))
        if len(want) != len(shown.get(pid, [])) or any(
                time != other or abs(one - two) > 1e-3 for (time, one), (other, two) in zip(want, shown[pid])):
            fail(directory, pid, "has the rates", shown.get(pid), "instead of", want)
        n_rates += 1


for argument in sys.argv[1:]:
    for folder, _, names in os.walk(argument):
        for name in sorted(names):
            path, ending = os.path.join(folder, name), os.path.splitext(name)[1]
            if ending not in n_files:
                continue
            n_files[ending] += 1
            if ending == ".csv":
                check_csv(path)
            elif ending == ".jsonl":
                check_lines(path)
            elif ".json" in name:
                with (gzip.open if ending == ".gz" else open)(path, "rt", encoding="utf-8") as file:
                    walk(path, parse(path, file.read()))
    check_arrows(argument)
    check_rates(argument)
print(n_files, n_large, "large numbers,", n_arrows, "files that leave arrows out")
if not all(n_files.values()) or not n_large or not n_arrows or not n_rates:
    fail("there was nothing to look at")
