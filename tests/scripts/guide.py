#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""guide.py TOP: all C and C++ that the README and the guide show stands in docs/examples, which the suite compiles, runs
and records: a block behind `<!-- file: PATH -->` is that file without its first comment, others are lines of one."""
import pathlib
import re
import sys

top = pathlib.Path(sys.argv[1])
examples = [path.read_text() for path in sorted((top / "docs/examples").glob("*.c*"))]
BLOCK = re.compile(r"(?:^<!-- file: (\S+) -->\n)?^```(?:c|cpp)\n(.*?)^```$", re.M | re.S)
bad = []


def bare(text):
    return "\n".join(line.strip() for line in text.strip().splitlines()) + "\n"


for document, n_least in ("README.md", 1), ("docs/guides/instrumenting.md", 8):
    blocks = list(BLOCK.finditer((top / document).read_text()))
    if len(blocks) < n_least:
        bad.append(f"{document}: {len(blocks)} blocks of code, not {n_least}")
    for block in blocks:
        path, code = block.groups()
        if path:
            shown = re.sub(r"\A(/\*.*?\*/\n)+", "", (top / path).read_text(), flags=re.S)
            if shown.strip() != code.strip():
                bad.append(f"{document} shows another {path}")
        elif not any(bare(code) in bare(example) for example in examples):
            bad.append(f"{document}: in no example of docs/examples:\n{code}")
print("\n".join(bad) or "all code of the README and of the guide is compiled and run")
sys.exit(bool(bad))
