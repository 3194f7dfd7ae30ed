# SPDX-License-Identifier: Apache-2.0
"""compare.py HOST.CSV TRUTH.JSON [PREFIX]: says each name whose intervals in host.csv are not as many as truth.py
counted, and exits 1 if there is one. With PREFIX, only of names that begin so."""
import collections
import csv
import json
import sys

prefix = sys.argv[3] if len(sys.argv) > 3 else ""
with open(sys.argv[1], encoding="utf-8", newline="") as file:
    found = collections.Counter(row["name"] for row in csv.DictReader(file) if row["kind"] == "User")
with open(sys.argv[2], encoding="utf-8") as file:
    wanted = json.load(file)
names = sorted(name for name in {*found, *wanted} if name.startswith(prefix))
wrong = [name for name in names if found[name] != wanted.get(name, 0)]
for name in wrong:
    print(f"{name}: {found[name]} intervals, {wanted.get(name, 0)} by the truth")
print(f"{len(names)} names, {sum(found[name] for name in names)} intervals, {len(wrong)} names differ")
sys.exit(bool(wrong) or not names)
