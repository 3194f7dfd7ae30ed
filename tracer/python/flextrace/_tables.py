# SPDX-License-Identifier: Apache-2.0
"""The tables of a conversion as frames of pandas."""
import json
import os
import re

# What the converter puts in front of a text that a spreadsheet would run (docs/adr/0007).
GUARDED = re.compile("'+[=+\\-@\t\r\n]")


class Tables:
    """The tables of one conversion: `tables.kernels` or `tables["kernels"]` is a frame, read when it is first asked for.

    `run` is run.json. `columns("kernels")` tells name, type and unit of each column; `frame.attrs["units"]` has the
    units as well. Integers are Int64 (UInt64 where a value needs it), numbers float64; both may be missing, texts never.
    A column of numbers in which another tool's words stand is text. Files in a shape that is no table are left out.
    """

    def __init__(self, directory):
        self.directory = os.fspath(directory)
        with open(os.path.join(self.directory, "run.json"), encoding="utf-8") as file:
            self.run = json.load(file)
        if self.run.get("versions", {}).get("run_json", 2) < 2:
            raise ValueError(f"{self.directory} is of an earlier version; convert again")
        self._files = {}
        self._frames = {}
        for file in self.run["files"]:
            name, ending = os.path.splitext(os.path.basename(file["file"]))
            if ending == ".csv" and "columns" in file:
                self._files[name] = file
        if not self._files:
            raise ValueError(f"{self.directory} describes no tables; convert again, with this version")

    def names(self):
        """The tables that there are."""
        return sorted(self._files)

    def columns(self, name):
        """Name, type and unit of each column of a table, as the converter describes it."""
        return self._file(name)["columns"]

    def _file(self, name):
        try:
            return self._files[name]
        except KeyError:
            raise KeyError(f"{self.directory} has no table {name!r} with a row; it has {', '.join(self.names())}") from None

    def _path(self, file):
        """Beside run.json, or in its folder for tables."""
        path = os.path.join(self.directory, file)
        return path if os.path.exists(path) else os.path.join(self.directory, "tables", file)

    def __getitem__(self, name):
        if name not in self._frames:
            self._frames[name] = _read(self._path(self._file(name)["file"]), self.columns(name))
        return self._frames[name]

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __contains__(self, name):
        return name in self._files

    def __iter__(self):
        return iter(self.names())

    def __len__(self):
        return len(self._files)

    def __dir__(self):
        return [*super().__dir__(), *self._files]

    def __repr__(self):
        return f"<flextrace tables of {self.directory}: {', '.join(self.names())}>"


def _read(path, columns):
    import pandas
    frame = pandas.read_csv(path, dtype=str, keep_default_na=False, na_filter=False, encoding="utf-8")
    if list(frame) != [column["name"] for column in columns]:
        raise ValueError(f"{path} has other columns than run.json says")
    frame = pandas.DataFrame({column["name"]: _as_type(pandas, frame.pop(column["name"]), column["type"])
                              for column in columns})
    frame.attrs["units"] = {column["name"]: column["unit"] for column in columns if "unit" in column}
    return frame


def _as_type(pandas, cells, kind):
    """The type that the converter gives a column, or text where other words stand in it."""
    try:
        if kind == "integer":
            return _as_integers(pandas, cells)
        if kind == "number":
            return cells.where(cells != "", "nan").astype("float64")
    except ValueError:
        pass
    names = {text: text[1:] for text in cells.unique() if GUARDED.match(text)}
    return (cells.map(lambda text: names.get(text, text)) if names else cells).astype("string")


def _as_integers(pandas, cells):
    """Not by way of floats, which would round times."""
    is_missing = (cells == "").to_numpy()
    numbers = cells.where(~is_missing, "0").to_numpy()
    try:
        numbers = numbers.astype("int64")
    except OverflowError:
        numbers = numbers.astype("uint64")
    return pandas.Series(pandas.arrays.IntegerArray(numbers, is_missing))
