# SPDX-License-Identifier: Apache-2.0
"""fuzz_data.py REPORT [N [SEED]]: the page of REPORT with data that no conversion writes: hostile texts, cells of other types,
tables and columns that are missing. Every section must stand, and nothing of the data become markup or script. 77: no
Chromium."""
import json
import os
import random
import re
import sys
import tempfile

import browser
import check_report
from make_trace import ATTACKS

NUMBERS = [0, -1, 1, 1e-9, -1e18, 2**53, 1e308, "9223372036854775807", "-9223372036854775808", "1700000000000000000", None, ""]


def change_cell(dice, column, value):
    kind = dice.random()
    if kind < 0.7:
        return value
    if column["type"] == "text":
        return dice.choice([*ATTACKS, None, "", value])
    return dice.choice(NUMBERS)


def change_table(dice, table):
    columns = table["columns"]
    kept = [i for i in range(len(columns)) if dice.random() < 0.95] or [0]
    rows = [[change_cell(dice, columns[i], row[i]) for i in kept] for row in table["rows"][: dice.choice([1, 2, 20, 100])]]
    return dict(table, columns=[columns[i] for i in kept], rows=rows, title=dice.choice([table["title"], *ATTACKS[:4]]),
                what=dice.choice([table["what"], *ATTACKS[:4]]))


def change_run(dice, run):
    run = json.loads(json.dumps(run))
    if "path" in run:
        run["path"] = dice.choice(ATTACKS)
    for process in run["processes"]:
        process["program"] = dice.choice([*ATTACKS, process["program"]])
    run["inputs"] = [dice.choice(ATTACKS) for _ in run["inputs"]]
    run["warnings"] = [{"id": dice.choice(ATTACKS), "count": 1, "remedy": dice.choice(ATTACKS)}]
    run["totals"]["lost"] = dice.choice([0, 1, 10**15])
    return run


def change(dice, data):
    """The document of a report, or of a comparison of runs."""
    compared = dict(data.get("comparison", {}))
    for side in ("a", "b") if compared else ():
        compared[side] = [change_run(dice, run) for run in compared[side]]
    whole = {"comparison": compared} if compared else {"run": change_run(dice, data["run"])}
    return {**whole, "tables": {name: change_table(dice, table) for name, table in data["tables"].items() if dice.random() < 0.9}}


def main():
    if not browser.find():
        print("skipped: there is no Chromium")
        return 77
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    with open(sys.argv[1], encoding="utf-8") as file:
        head, text, tail = re.match(r'(.*id="flextrace-data">)(.*?)(</script>.*)', file.read(), re.S).groups()
    data = json.loads(text)
    with tempfile.TemporaryDirectory() as folder, browser.Browser() as page:
        path = os.path.join(folder, "page.html")
        for i in range(n):
            document = json.dumps(change(random.Random(seed + i), data), ensure_ascii=bool(i % 2)).replace("<", "\\u003c")
            with open(path, "w", encoding="utf-8") as file:
                file.write(head + document + tail)
            page.open(path)
            page.run("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
            check_report.check_markup(page)
            failed = page.run("[...document.querySelectorAll('.failed[role=alert]')].map((part) => part.parentElement.id + ': ' + part.textContent)")
            check_report.expect(not failed, f"seed {seed + i}: {failed}")
            check_report.expect(page.run("document.querySelectorAll('.verdict li').length > 0"), f"seed {seed + i}: no verdict")
            for complaint in page.complaints():
                check_report.expect(False, f"seed {seed + i}: {complaint}")
            page.events = []
    for problem in check_report.problems[:40]:
        print(problem[:400])
    print(f"{n} pages, {len(check_report.problems)} problems")
    return 1 if check_report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
