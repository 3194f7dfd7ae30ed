# SPDX-License-Identifier: Apache-2.0
"""json_lines.py DIR...: each table of a conversion has the same cells as lines of JSON, read as docs/guides/json.md says."""
import csv
import json
import os
import re
import sys

import pandas

csv.field_size_limit(1 << 24)
WIDE = {"start_ns", "end_ns", "time_ns", "first_ns", "last_ns", "ts1", "ts2", "ts3", "ts4", "ts5", "address", "job",
        "correlation"}
NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
GUARDED = re.compile("'+[=+\\-@\t\r\n]")
seen = set()


def fail(*words):
    print("FAIL:", *words)
    sys.exit(1)


def wanted(text, kind, name):
    """What a cell of CSV is in JSON."""
    if text == "":
        return None
    if kind != "text" and name in WIDE:
        return text
    if kind != "text" and NUMBER.fullmatch(text):
        if "." in text or "e" in text.lower():
            return float(text)
        return int(text) if abs(int(text)) <= 1 << 53 else text
    return text[1:] if kind == "text" and GUARDED.match(text) else text


def check(directory, name, columns):
    path = os.path.join(directory, "tables", name)
    with open(path + ".csv", encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    with open(path + ".jsonl", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file.read().split("\n")[:-1]]
    if len(lines) != len(rows):
        fail(path, len(lines), "lines for", len(rows), "rows")
    for number, (row, line) in enumerate(zip(rows, lines)):
        if name != "ops" and list(line) != header:
            fail(path, number, "has other members", list(line))
        for column, text, value in zip(columns, row, line.values()):
            want = wanted(text, column["type"], column["name"])
            if name == "ops" and str(want) == str(value):
                continue
            if (want, type(want)) != (value, type(value)):
                fail(path, number, column, repr(text), repr(value))
            seen.add(type(value).__name__ + ("large" if isinstance(value, str) and column["type"] == "integer" else ""))
    return len(rows)


def check_pandas(directory, name, column):
    path = os.path.join(directory, "tables", name)
    frame = pandas.read_json(path + ".jsonl", lines=True, dtype=False)
    with open(path + ".csv", encoding="utf-8", newline="") as file:
        texts = [row[column] for row in csv.DictReader(file)]
    if frame[column].astype("string").astype("Int64").tolist() != [int(text) for text in texts]:
        fail(path, "is read otherwise by pandas")


for argument in sys.argv[1:]:
    with open(os.path.join(argument, "run.json"), encoding="utf-8") as file:
        files = {file["file"]: file for file in json.load(file)["files"]}
    n = 0
    for file in files:
        base, ending = os.path.splitext(os.path.basename(file))
        if ending == ".csv" and base != "twice":
            if f"tables/{base}.jsonl" not in files:
                fail(argument, base, "is not written as lines of JSON")
            n += check(argument, base, files[file]["columns"])
    for name in ("host", "events"):
        if f"tables/{name}.csv" in files:
            check_pandas(argument, name, "start_ns")
    print(f"{argument}: {n} rows")
if not {"str", "int", "float", "NoneType", "strlarge"} <= seen:
    fail("only these kinds of cells:", seen)
