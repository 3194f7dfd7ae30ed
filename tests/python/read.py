# SPDX-License-Identifier: Apache-2.0
"""read.py DIR...: flextrace.read() has what the csv module finds in the tables of conversions, cell by cell."""
import csv
import math
import os
import sys

import flextrace

csv.field_size_limit(1 << 24)
kinds = set()


def fail(*words):
    print("FAIL:", *words)
    sys.exit(1)


def unguarded(text):
    rest = text.lstrip("'")
    return text[1:] if rest != text and rest[:1] in tuple("=+-@\t\r\n") else text


def is_same(text, value, kind):
    """Whether a cell of a frame is what a text in a file says."""
    kinds.add((kind, text == ""))
    if kind in ("Int64", "UInt64"):
        return value is pandas.NA if text == "" else int(value) == int(text)
    if kind == "float64":
        return math.isnan(value) if text in ("", "nan") else value == float(text)
    return value == unguarded(text)


def check(tables, name, path):
    with open(path, encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    frame = tables[name]
    described = tables.columns(name)
    if header != list(frame) or header != [column["name"] for column in described]:
        fail(path, "has other columns", header, list(frame))
    if len(rows) != len(frame):
        fail(path, len(rows), "rows, not", len(frame))
    for i, column in enumerate(described):
        cells = frame[column["name"]]
        for n, (row, value) in enumerate(zip(rows, cells)):
            if not is_same(row[i], value, str(cells.dtype)):
                fail(path, column, n, repr(row[i]), repr(value))
        is_number = column["type"] in ("integer", "number")
        if (str(cells.dtype) == "string") == is_number and name != "ops":
            fail(path, column, cells.dtype)
        if frame.attrs["units"].get(column["name"]) != column.get("unit"):
            fail(path, column, frame.attrs["units"])
    return len(rows)


def check_all(directory):
    tables = flextrace.read(directory)
    folder = os.path.join(directory, "tables")
    files = [file[:-4] for file in os.listdir(folder) if file.endswith(".csv")]
    if sorted(files) != tables.names() or list(tables) != tables.names() or len(tables) != len(files):
        fail(directory, sorted(files), tables.names())
    n_rows = sum(check(tables, name, os.path.join(folder, name + ".csv")) for name in tables)
    name = tables.names()[0]
    if getattr(tables, name) is not tables[name] or name not in tables or name not in dir(tables):
        fail("access by attribute")
    for wrong in (lambda: tables["nothing"], lambda: tables.nothing):
        try:
            wrong()
            fail("a table that is not there")
        except (KeyError, AttributeError) as error:
            if "it has" not in str(error):
                fail(error)
    print(f"{directory}: {len(files)} tables, {n_rows} rows")


if "pandas" in sys.modules:
    fail("pandas is imported before something is read")
for argument in sys.argv[1:]:
    flextrace.read(argument)
import pandas  # noqa: E402

for argument in sys.argv[1:]:
    check_all(argument)
if len(kinds) < 5:
    fail("only these kinds of cells:", kinds)
