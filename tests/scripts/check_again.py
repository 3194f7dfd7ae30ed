#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_again.py FLEXTRACE ORACLE_TRACE MAKE_RANKS [DATA]: converts what there is (the golden cases, hosts with clocks of
their own, the corpora of the importers, DATA if it is there) to trace.pftrace, and that again: all tables are the same,
but for what the guide says. A row is never
more sure than it was. Says every difference; exits 1 if there is one."""
import collections
import csv
import glob
import json
import os
import subprocess
import sys
import tempfile

FLEXTRACE, ORACLE_TRACE, MAKE_RANKS = sys.argv[1:4]
DATA = sys.argv[4] if len(sys.argv) > 4 else ""
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STATUSES = ["certified", "assumed", "outlier", "unmatched", "given"]
# What the guide says that is not in the file: columns, by table; "*": of all; and tables.
NOT_KEPT = {
    "*": {"source", "host"},  # nobody may have named it
    "events.csv": {"moved_ns"},
    "losses.csv": {"stream", "first_ns", "last_ns"},  # of what is of no process; else compare_losses()
    "collectives.csv": {"err_ns", "status"},  # of hosts that are not the reference's
    "communication.csv": {"err_ns", "unsure"},
    "stragglers.csv": {"err_ns", "unsure_last"},
}
TABLES_NOT_KEPT = {"emitted.csv", "device_stats.csv"}
# An operation of a framework and all that its records say; one whose arguments only look so.
OPERATIONS = """stream uuid=1 class=0 instance=0 offset=1700000000000000000 host=node0
1000000000000 1 1 process rank=0 world_size=1 pid=1 start_ns=999999999000 boot_id=boot-a host=node0 dialect=neutral
1000000000100 1 1 device device=0 uuid=u name=AIU
stream uuid=1 class=1 instance=0 offset=1700000000000000000 host=node0
1000000000200 1 1 op correlation=7 type=MatMul attributes="alpha=1 \\"x\\"" n_cores=4 depth=2
1000000000210 1 1 op_info correlation=7 op_name=jit(step)/mm module=model.layers.0 opcode=dot frames="a.py:1 b.py:2"
1000000000220 1 1 tensor correlation=7 is_output=0 dims=2x3 dtype=fp16 layout=TILE memory=DRAM
1000000000230 1 1 tensor correlation=7 is_output=0 dims=3x4
1000000000240 1 1 tensor correlation=7 is_output=1 dims=2x4 dtype=fp16
1000000000250 1 1 scope_args correlation=7 args="{\\"of\\": [1, null]}"
1000000000300 1 1 scope begin_ns=1000000000190 kind=34 name=aten::mm correlation=7
1000000000350 1 1 scope_args correlation=8 args="{\\"inputs\\": 1, \\"outputs\\": []}"
1000000000400 1 1 scope begin_ns=1000000000310 kind=34 name=aten::add correlation=8
1000000000900 1 1 device_op device=0 job=1 correlation=7 kind=1 name=mm submit_ns=1000000000250 complete_ns=1000000000890 bytes=64
"""
n_wrong = 0


def complain(name, text):
    global n_wrong
    n_wrong += 1
    print(f"{name}: {text}")


def convert(inputs, out, *options):
    command = [FLEXTRACE, "convert", "--quiet", "--formats=csv,pftrace", "-o", out, *options, *inputs]
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
    if key == "err_ns" and row.get("status") == "given":
        return after == ""
    return key == "status" and after == "given"


def shown(rows, table):
    """Rows that a trace has: values that are none are not there, and losses of no process have no stream."""
    if table == "counters.csv":
        return [row for row in rows if row["value"] not in ("nan", "inf", "-inf")]
    return [row for row in rows if row["pid"]] if table == "losses.csv" else rows


def compare_losses(name, before, after):
    """Of each cause as much is lost; of a process also when and where."""
    for key in ("cause",), ("rank", "pid", "cause", "device", "core", "first_ns", "last_ns"):
        sums = []
        for rows in rows_of(before, "losses.csv"), rows_of(after, "losses.csv"):
            sums.append(collections.Counter())
            for row in rows if len(key) == 1 else shown(rows, "losses.csv"):
                sums[-1][tuple(row[column] for column in key)] += int(row["count"])
        if sums[0] != sums[1]:
            complain(name, f"losses.csv was {dict(sums[0])}, is {dict(sums[1])}")


def tables_of(out):
    return {name for name in os.listdir(os.path.join(out, "tables")) if name.endswith(".csv")}


def compare(name, before, after):
    compare_losses(name, before, after)
    for table in sorted((tables_of(before) | tables_of(after)) - TABLES_NOT_KEPT):
        left, right = shown(rows_of(before, table), table), shown(rows_of(after, table), table)
        if len(left) != len(right):
            complain(name, f"{table} has {len(right)} rows, not {len(left)}")
            continue
        for number, (old, new) in enumerate(zip(left, right)):
            for key in old.keys() - NOT_KEPT["*"] - NOT_KEPT.get(table, set()):
                if not is_same(key, old[key], new.get(key), new):
                    complain(name, f"{table} row {number} {key}: {old[key]!r} is {new.get(key)!r}")
            if "status" in old and STATUSES.index(new["status"]) < STATUSES.index(old["status"]):
                complain(name, f"{table} row {number} was {old['status']}, is {new['status']}")
            if new.get("status") == "certified" and int(new["err_ns"]) < int(old["err_ns"]):
                complain(name, f"{table} row {number} has a smaller error")


def check_filtered(name, trace, out):
    """What a filter leaves out of a file of ours is booked as what was read."""
    convert([trace], out, "--time-range=+0ns,+1ns")
    with open(os.path.join(out, "run.json"), encoding="utf-8") as file:
        for kind, books in json.load(file)["balance"].items():
            if books["read"] != books["rows"] + books["evidence"] + sum(books["discarded"].values()):
                complain(name, f"books of {kind}: {books}")


def inputs(scratch):
    operations = os.path.join(scratch, "operations", "input.txt")
    os.mkdir(os.path.dirname(operations))
    with open(operations, "w", encoding="utf-8") as file:
        file.write(OPERATIONS)
    for case in sorted(glob.glob(os.path.join(TESTS, "golden", "*", "input.txt"))) + [operations]:
        name = os.path.basename(os.path.dirname(case))
        trace = os.path.join(scratch, "trace." + name)
        if subprocess.run([ORACLE_TRACE, case, trace], capture_output=True, check=False).returncode == 0:
            yield name, [trace]
    if MAKE_RANKS:  # else benchmarks are not built
        hosts = os.path.join(scratch, "hosts")
        subprocess.run([MAKE_RANKS, hosts, "3", "20"], check=True)
        yield "hosts", sorted(glob.glob(os.path.join(hosts, "*")))
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
            if name == "device_marks":
                check_filtered(name, os.path.join(before, "trace.pftrace"), after + ".filtered")
            n += 1
    if n < 8:
        complain("inputs", f"only {n} could be converted")
    sys.exit(n_wrong > 0)


main()
