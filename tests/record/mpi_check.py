#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mpi_check.py DIR LOG [--may-lack]: what a recording of mpi_program says, against what the program printed.

Every collective has all ranks of its communicator, every receive is that of the send with its length. Every message is
there on both sides; with --may-lack receives may be missing.
"""
import collections
import csv
import json
import os
import re
import sys

directory, log = sys.argv[1:3]
TAG_SENDERS = 8  # of mpi_program.c
may_lack = "--may-lack" in sys.argv
csv.field_size_limit(1 << 30)
faults = []


def rows(name):
    """Of a table; one without a row is not written."""
    if not os.path.exists(f"{directory}/tables/{name}"):
        return
    with open(f"{directory}/tables/{name}", newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


# Communicators
sizes = collections.defaultdict(set)
for row in rows("instants.csv"):
    if row["kind"] == "annotation" and row["value"].startswith("size="):
        sizes[row["name"]].add((int(row["value"][5:]), row["rank"]))
for group, said in sizes.items():
    if len({size for size, _ in said}) != 1 or len(said) != next(iter(said))[0]:
        faults.append(f"communicator {group}: {sorted(said)}")

collectives = collections.defaultdict(list)
for row in rows("collectives.csv"):
    collectives[row["group"], row["number"]].append(row)
for (group, number), parts in collectives.items():
    expected = 1 if group.startswith("MPI_COMM_SELF") else next(iter(sizes[group]))[0] if group in sizes else 4
    if len({part["op"] for part in parts}) != 1 or len(parts) != expected or \
            len({part["rank"] for part in parts}) != expected or \
            any(int(part["ranks"]) != expected for part in parts):
        faults.append(f"collective {group} {number}: {[(p['rank'], p['op'], p['ranks']) for p in parts]}")

# Messages
sends, receives = {}, {}
for row in rows("host.csv"):
    if row["kind"] != "Collective":
        continue
    said = json.loads(row["args"])
    is_receive = row["name"] == "recv"
    if not is_receive and "send" not in row["name"].lower():
        continue
    ends = (said["peers"], row["rank"]) if is_receive else (row["rank"], said["peers"])
    side = receives if is_receive else sends
    key = (said["group"], said["seq"], *ends)
    if key in side:
        faults.append(f"twice: {key} {'received' if is_receive else 'sent'}")
    side[key] = said["bytes"]
for key, length in receives.items():
    if key not in sends:
        faults.append(f"received, not sent: {key}")
    elif sends[key] != length and key[1] >> 32 != TAG_SENDERS:
        faults.append(f"sent {sends[key]} bytes, received {length}: {key}")

sent = received = 0
with open(log, encoding="utf-8") as file:
    for line in file:
        said = re.search(r"sent (\d+) received (\d+)", line)
        if said:
            sent += int(said[1])
            received += int(said[2])
if sent != len(sends):
    faults.append(f"{len(sends)} sends of {sent}")
if received < len(receives) or (received != len(receives) and not may_lack):
    faults.append(f"{len(receives)} receives of {received}")

# The same as a matrix
total = collections.Counter()
for row in rows("communication_matrix.csv"):
    if row["window"] == "":
        total.update({name: int(row[name]) for name in ("sent", "sent_bytes", "received", "received_bytes", "matched")})
expected = {"sent": len(sends), "sent_bytes": sum(sends.values()), "received": len(receives),
            "received_bytes": sum(receives.values()), "matched": 2 * len(receives.keys() & sends.keys())}
if {name: total[name] for name in expected} != expected:
    faults.append(f"matrix: {dict(total)}, not {expected}")

print(f"{len(collectives)} collectives of {len(sizes)} communicators, {len(sends)} sends, {len(receives)} receives")
for fault in faults[:20]:
    print(fault)
sys.exit(bool(faults))
