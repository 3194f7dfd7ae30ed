#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_again.py FLEXTRACE ORACLE_TRACE [DATA]: converts what there is (the golden cases, the corpora of the importers,
DATA if it is there) to trace.pftrace, and that again: rows are the same, but for what the guide says. A row is never
more sure than it was. Says every difference; exits 1 if there is one."""
import csv
import glob
import json
import os
import subprocess
import sys
import tempfile

FLEXTRACE, ORACLE_TRACE = sys.argv[1:3]
DATA = sys.argv[3] if len(sys.argv) > 3 else ""
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STATUSES = ["certified", "assumed", "outlier", "unmatched", "given"]
TABLES = ["events.csv", "host.csv", "instants.csv", "counters.csv", "memory.csv", "collectives.csv", "kernels.csv"]
NOT_KEPT = {"source", "moved_ns", "ideal_cycles", "pt_util", "category", "phase", "host"}
COMPUTED = {"Power", "PT Active"}  # need the rate of a counter
n_wrong = 0


def complain(name, text):
    global n_wrong
    n_wrong += 1
    print(f"{name}: {text}")


def convert(inputs, out):
    command = [FLEXTRACE, "convert", "--quiet", "--formats=csv,pftrace", "-o", out, *inputs]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, text=True)


def rows_of(out, table):
    path = os.path.join(out, "tables", table)
    if not os.path.exists(path):
        return []
    with open(path, newline="", encoding="utf-8", errors="surrogateescape") as file:
        return list(csv.DictReader(file))


def same_json(left, right):
    try:
        return json.loads(left) == json.loads(right)
    except ValueError:
        return left == right


def is_same(key, before, after, row):
    """Arguments are the same values. Of instants without a category the trace has that of all others."""
    if before == after:
        return True
    if key == "value":
        after = after.replace('{"cat":"cpu_instant_event"', '{"cat":""')
    if key in ("args", "value"):
        return same_json(before, after)
    if key == "err_ns" and "given" == row["status"]:
        return after == ""
    return key == "status" and after == "given"


def shown(rows, table):
    """Rows that a trace has: of a counter only samples that change it, and none that a clock makes."""
    if table != "counters.csv":
        return rows
    last, kept = {}, []
    for row in rows:
        line = row["rank"], row["pid"], row["device"], row["core"], row["name"]
        if row["name"] in COMPUTED or last.get(line) == row["value"] or row["value"] in ("nan", "inf", "-inf"):
            continue
        last[line] = row["value"]
        kept.append(row)
    return kept


def compare(name, before, after):
    for table in TABLES:
        left, right = shown(rows_of(before, table), table), shown(rows_of(after, table), table)
        if len(left) != len(right):
            complain(name, f"{table} has {len(right)} rows, not {len(left)}")
            continue
        for number, (old, new) in enumerate(zip(left, right)):
            for key in old.keys() - NOT_KEPT:
                if not is_same(key, old[key], new.get(key), new):
                    complain(name, f"{table} row {number} {key}: {old[key]!r} is {new.get(key)!r}")
            if "status" in old and STATUSES.index(new["status"]) < STATUSES.index(old["status"]):
                complain(name, f"{table} row {number} was {old['status']}, is {new['status']}")
            if new.get("status") == "certified" and int(new["err_ns"]) < int(old["err_ns"]):
                complain(name, f"{table} row {number} has a smaller error")


def inputs(scratch):
    for case in sorted(glob.glob(os.path.join(TESTS, "golden", "*", "input.txt"))):
        name = os.path.basename(os.path.dirname(case))
        trace = os.path.join(scratch, "trace." + name)
        if subprocess.run([ORACLE_TRACE, case, trace], capture_output=True, check=False).returncode == 0:
            yield name, [trace]
    for corpus in ("flex", "torch", "xplane", "tt_csv", "nsys", "aie"):
        for path in sorted(glob.glob(os.path.join(TESTS, "fuzz", "corpus", corpus, "*"))):
            yield corpus + "/" + os.path.basename(path), [path]
    for pattern in ("flex-json/*.json", "kineto/*.json.gz", "jax/*.pb", "nsys/*.sqlite", "tt-metal/device-log/*.csv"):
        for path in sorted(glob.glob(os.path.join(DATA or "/nonexistent", pattern))):
            if os.path.getsize(path) < 2 << 20:
                yield os.path.basename(path), [path]
    ranks = sorted(glob.glob(os.path.join(DATA or "/nonexistent", "flex-json", "allreduce_tp4_by_rank", "*.json")))
    if ranks:
        yield "ranks", ranks


def main():
    n = 0
    with tempfile.TemporaryDirectory() as scratch:
        for number, (name, paths) in enumerate(inputs(scratch)):
            before, after = (os.path.join(scratch, f"{number}.{way}") for way in ("before", "after"))
            if convert(paths, before).returncode != 0 or not rows_of(before, "host.csv") + rows_of(before, "events.csv"):
                continue
            again = convert([os.path.join(before, "trace.pftrace")], after)
            if again.returncode != 0:
                complain(name, again.stderr.strip())
                continue
            compare(name, before, after)
            n += 1
    if n < 8:
        complain("inputs", f"only {n} could be converted")
    sys.exit(n_wrong > 0)


main()
