# SPDX-License-Identifier: Apache-2.0
"""check_diff.py PAGE CSV [PICTURES]: opens the page of `flextrace diff` in Chromium and holds it against what --csv prints.
Prints what is wrong, then fails. 77: no Chromium."""
import csv
import json
import os
import sys
import tempfile

import browser
import check_report
from check_report import expect

CHANGED = ("slower", "faster", "added", "removed")


def read_tables(path):
    """By `of`: the head and the rows."""
    with open(path, newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    return head, {of: [row for row in rows if row[0] == of] for of in ("run", "device", "host") if any(row[0] == of for row in rows)}


def check_tables(page, head, tables):
    with tempfile.TemporaryDirectory() as folder:
        for name, rows in tables.items():
            path = os.path.join(folder, name + ".csv")
            with open(path, "w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([head, *rows])
            check_report.check_table(page, name, path)


def check_choice(page, head, tables):
    """The list of verdicts leaves the rows of one."""
    at = head.index("verdict")
    for name, rows in tables.items():
        verdicts = {row[at] for row in rows}
        for verdict in verdicts if len(verdicts) > 1 else ():
            got = page.run(f"""(() => {{ const root = document.getElementById('table-{name}'); const select = root.querySelector('select');
				select.value = {json.dumps(verdict)}; select.dispatchEvent(new Event('change'));
				for (let more = root.lastElementChild; !more.hidden;) more.click();
				const n = root.querySelectorAll('tbody tr').length;
				select.value = ''; select.dispatchEvent(new Event('change')); return n; }})()""")
            expected = sum(row[at] == verdict for row in rows)
            expect(got == expected, f"{name}: {got} rows are {verdict}, not {expected}")


def changed(head, rows):
    found = [dict(zip(head, row)) for row in rows]
    found = [row for row in found if row["verdict"] in CHANGED]
    return sorted(found, key=lambda row: -abs(float(row["difference_ns"])))


def check_changes(page, head, tables):
    """The bars are the largest differences, the exact ones in their tooltips, and the first is the answer on top."""
    for name, question in (("device", "What changed most on devices"), ("host", "What changed most on the host")):
        if name not in tables:
            continue
        rows = changed(head, tables[name])
        bars = page.run(f"""[...document.querySelectorAll('#{name} .changes li')].map((li) =>
			[li.querySelector('.figure').textContent, li.querySelector('.figure').dataset.tip, li.querySelector('.fill').getBoundingClientRect().width])""")
        expect(len(bars) == min(15, len(rows)), f"{name}: {len(bars)} bars, not those of {len(rows)} rows")
        for row, (text, tip, _) in zip(rows, bars):
            expect(text.startswith(row["verdict"]), f"{name}: {text!r}, not {row['verdict']}")
            expect(f"{float(row['difference_ns']):.0f} ns in all" in tip, f"{name}: {tip!r}, not {row['difference_ns']}")
        widths = [width for _, _, width in bars]
        expect(widths == sorted(widths, reverse=True), f"{name}: bars are not in order: {widths}")
        answer = check_report.answer_of(page, question)
        if rows:
            expect(check_report.without_apostrophe(rows[0]["name"])[:40] in answer[0] and answer[1].startswith(rows[0]["verdict"]), f"{name}: verdict {answer}")
        else:
            expect(answer[0] == "nothing for certain", f"{name}: verdict {answer}")


def check_run(page, head, tables):
    words = {"slower": "yes, slower", "faster": "no, faster", "unchanged": "not beyond noise", "unknown": "not known"}
    by_name = {row["name"]: row for row in (dict(zip(head, row)) for row in tables["run"])}
    row = by_name.get("iteration", by_name["whole run"])
    answer = check_report.answer_of(page, "Is B slower")
    expect(answer[0] == words[row["verdict"]], f"verdict: {answer}, not {row}")
    expect(f"{float(row['change_percent']):.1f} %" in answer[1] and row["name"] in answer[1], f"verdict: {answer}, not {row}")


def check(path, csv_path, pictures):
    head, tables = read_tables(csv_path)
    os.makedirs(pictures, exist_ok=True)
    with browser.Browser() as page:
        page.send("Page.addScriptToEvaluateOnNewDocument", source=check_report.WATCH)
        page.open(path)
        check_report.check_sections(page)
        check_run(page, head, tables)
        check_changes(page, head, tables)
        check_report.check_reachable(page)
        check_choice(page, head, tables)
        check_tables(page, head, tables)
        check_report.check_markup(page)
        check_report.check_colours(page, pictures, path)
        check_report.check_sizes(page, pictures, path)
        for complaint in page.complaints():
            expect(False, complaint)


def main():
    if not browser.find():
        print("skipped: there is no Chromium")
        return 77
    check(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else sys.argv[1] + "-pictures")
    for problem in check_report.problems[:40]:
        print(problem[:400])
    print(f"diff: {len(check_report.problems)} problems")
    return 1 if check_report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
