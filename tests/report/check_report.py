# SPDX-License-Identifier: Apache-2.0
"""check_report.py OUT [PICTURES]: opens OUT/report.html in Chromium, goes through every section, reads figures back and
holds them against the tables' CSV files. Prints what is wrong, then fails. 77: no Chromium."""
import csv
import io
import json
import os
import re
import sys

import browser

# Keeps what is handed out as a file, before the page runs.
WATCH = """
window.saved = [];
const create = URL.createObjectURL.bind(URL);
URL.createObjectURL = (blob) => { window.saved.push(blob); return create(blob); };
const click = HTMLAnchorElement.prototype.click;
HTMLAnchorElement.prototype.click = function () { if (!this.download) click.call(this); };
"""

problems = []


def expect(is_right, text):
    if not is_right:
        problems.append(text)


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    return rows[0], rows[1:]


def without_apostrophe(text):
    return text[1:] if re.match(r"'+[=+\-@\t\r\n]", text) else text


def is_same(shown, written):
    """A cell of the page and of the file: numbers may have fewer zeros at their end."""
    if shown == without_apostrophe(written):
        return True
    try:
        return float(shown) == float(written)
    except ValueError:
        return False


# -- tables ------------------------------------------------------------------------------------------------------------

READ_TABLE = """(() => {
	const root = document.getElementById('table-%s');
	return new Promise((done) => {
		if (root.open)
			return done();
		root.addEventListener('toggle', done, {once: true});
		root.open = true;
	}).then(() => {
		root.querySelectorAll('input[type=checkbox]').forEach((box) => box.checked || box.click());
		for (let more = root.lastElementChild; !more.hidden;) more.click();
		return {head: [...root.querySelectorAll('th')].map((cell) => cell.textContent),
			rows: [...root.querySelectorAll('tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent))};
	});
})()"""

SAVE = """(() => { window.saved = []; document.querySelector('#table-%s .save').click(); return window.saved[0].text(); })()"""


def shown_rows(head, rows):
    """Of tables that begin with the whole, the page has only that, not each step and window."""
    at = head.index("window") if "window" in head else None
    return rows if at is None or rows[0][at] else [row for row in rows if not row[at]]


def check_table(page, name, path):
    head, rows = read_csv(path)
    rows = shown_rows(head, rows)
    shown = page.run(READ_TABLE % name)
    expect(shown["head"] == head, f"{name}: columns {shown['head']}, not {head}")
    expect(0 < len(shown["rows"]) <= len(rows), f"{name}: {len(shown['rows'])} rows of {len(rows)}")
    for row, (cells, written) in enumerate(zip(shown["rows"], rows)):
        for column, (cell, text) in enumerate(zip(cells, written)):
            if not is_same(cell, text):
                return expect(False, f"{name}: row {row}, {head[column]}: {cell!r}, not {text!r}")
    check_saved(page, name, head, rows[: len(shown["rows"])])
    check_order(page, name, head, shown["rows"])
    check_search(page, name, shown["rows"])
    return None


def check_saved(page, name, head, rows):
    saved = list(csv.reader(io.StringIO(page.run(SAVE % name), newline="")))
    expect(saved[0] == head and len(saved) == len(rows) + 1, f"{name}: saved {len(saved) - 1} rows, not {len(rows)}")
    for got, written in zip(saved[1:], rows):
        for cell, text in zip(got, written):
            if cell != text and not is_same(cell, text):
                return expect(False, f"{name}: saved {cell!r}, not {text!r}")
    return None


SORT = """(() => { const root = document.getElementById('table-%s');
	root.querySelectorAll('th')[%d].firstChild.click();
	return {order: root.querySelectorAll('th')[%d].getAttribute('aria-sort'),
		cells: [...root.querySelectorAll('tbody tr')].map((row) => row.children[%d].textContent)}; })()"""


def check_order(page, name, head, rows):
    """Each column, in long tables some, up and down: the same cells, in order, the empty ones last."""
    n_checked = min(len(head), max(2, 600 // len(rows)))
    for column in range(0, len(head), -(-len(head) // n_checked)):
        before = [row[column] for row in rows]
        for _ in range(2):
            got = page.run(SORT % (name, column, column, column))
            filled = [cell for cell in got["cells"] if cell]
            is_down = got["order"] == "descending"
            try:
                keys = [int(cell) for cell in filled]
            except ValueError:
                try:
                    keys = [float(cell) for cell in filled]
                except ValueError:
                    keys = None
            expect(sorted(before) == sorted(got["cells"]), f"{name}: sorting by {head[column]} changes cells")
            expect(not any(got["cells"][len(filled):]), f"{name}: {head[column]}: empty cells are not last")
            if keys:
                expect(keys == sorted(keys, reverse=is_down), f"{name}: {head[column]} is not {got['order']}")


SEARCH = """(() => { const root = document.getElementById('table-%s'); const field = root.querySelector('input[type=search]');
	field.value = %s; field.dispatchEvent(new Event('input'));
	for (let more = root.lastElementChild; !more.hidden;) more.click();
	const n = root.querySelectorAll('tbody tr').length;
	field.value = ''; field.dispatchEvent(new Event('input'));
	return n; })()"""


def check_search(page, name, rows):
    texts = [cell for row in rows[:50] for cell in row if len(cell) > 3 and not re.match(r"^[\d.\-]+$", cell)]
    if not texts:
        return
    text = texts[len(texts) // 2]
    # toLowerCase() and lower() differ in some alphabets.
    if not text.isascii():
        return
    least = sum(any(text.lower() in cell.lower() for cell in row) for row in rows)
    got = page.run(SEARCH % (name, json.dumps(text)))
    expect(got == least, f"{name}: {got} rows have {text!r}, not {least}")


# -- figures -----------------------------------------------------------------------------------------------------------


class Tables:
    """The rows of CSV files that the page has, as lists of dictionaries."""

    def __init__(self, folder, tables):
        self.folder = folder
        self.tables = tables

    def __call__(self, name):
        if name not in self.tables:
            return []
        head, rows = read_csv(os.path.join(self.folder, self.tables[name]["file"]))
        rows = [dict(zip(head, row)) for row in shown_rows(head, rows)[: len(self.tables[name]["rows"])]]
        own = [row for row in rows if row.get("rank") or row.get("pid")]
        return own or rows


def sum_by(rows, key, column):
    sums = {}
    for row in rows:
        sums[row[key]] = sums.get(row[key], 0) + int(row[column] or 0)
    return sums


def answer_of(page, question):
    return page.run(f"""[...document.querySelectorAll('.verdict li')].filter((li) =>
		li.querySelector('.question').textContent.startsWith({json.dumps(question)})).map((li) =>
		[li.querySelector('.answer').textContent, li.querySelector('.detail').textContent])[0] || null""")


def check_verdict(page, tables, run):
    kernels = [row for row in tables("kernels") if not re.search(r"memcpy|memset|dma|prep|release|copy|^set|alloc|free",
                                                                row["kind"], re.I)]
    answer = answer_of(page, "Which kernel")
    if kernels:
        sums = sum_by(kernels, "name", "total_ns")
        best = max(sums.values())
        names = [name for name, value in sums.items() if value == best]
        share = 100 * best / sum(int(row["total_ns"]) for row in tables("kernels"))
        expect(any(answer[0].rstrip("…") in without_apostrophe(name) for name in names), f"verdict: kernel {answer[0]!r}, not {names}")
        expect(f"{share:.1f} %" in answer[1] or share < 0.1, f"verdict: {answer[1]!r} lacks {share:.1f} %")
    clocks = tables("clocks")
    events = sum(int(row["events"]) for row in clocks)
    answer = answer_of(page, "Can the numbers")
    if events:
        certified = sum(int(row["certified"]) for row in clocks)
        expect(f"{100 * certified / events:.1f} %" in answer[1], f"verdict: {answer[1]!r}: {certified} of {events}")
    lost = run["totals"]["lost"]
    expect((f"{lost:,} record" in answer[1] and "lost" in answer[1]) if lost else "0 records lost" not in answer[1],
           f"verdict: {lost} lost, and the page says {answer[1]!r}")
    waits = answer_of(page, "Which rank")
    is_known = bool(tables("stragglers")) or any(row["wait_ns"] for row in tables("collectives"))
    n_ranks = len({process["rank"] for process in run["processes"] if process["rank"] >= 0})
    expect(bool(waits) or n_ranks < 2, "verdict: no word of which rank waits")
    expect(not waits or (waits[0] == "not known") == (not is_known), f"verdict: the rank that waits is {waits}")
    expect(answer[0] != "yes" or not (lost or run["warnings"]), "verdict: yes, in spite of losses or warnings")


def check_bars(page, tables):
    """The exact sums stand in the tooltips of bars."""
    for title, name, column in (("Device work", "kernels", "total_ns"), ("Host functions", "runtime", "self_ns")):
        rows = [dict(row, key=": ".join(filter(None, (without_apostrophe(row["kind"]), without_apostrophe(row["name"])))))
                for row in tables(name)]
        sums = sum_by(rows, "key", column) if rows else {}
        tips = page.run(f"""[...document.querySelectorAll('figure')].filter((figure) => figure.querySelector('h3') &&
			figure.querySelector('h3').textContent.startsWith({json.dumps(title)})).flatMap((figure) =>
			[...figure.querySelectorAll('li')].map((li) => [li.querySelector('.name').textContent, li.querySelector('.figure').dataset.tip]))""")
        expect(bool(tips) or not any(sums.values()), f"{title}: no bars")
        for key, tip in tips:
            expect(f" {sums.get(key)} ns in " in tip, f"{title}: {key!r}: {tip!r}, not {sums.get(key)} ns")


HOVER = """(() => { const box = [...document.querySelectorAll('.chart')].find((chart) => chart.getAttribute('aria-label').startsWith(%s));
	if (!box) return null;
	box.scrollIntoView({block: 'center'});
	const at = box.getBoundingClientRect();
	return [at.left + at.width / 2, at.top + at.height / 2]; })()"""

SAYS = "[...document.querySelectorAll('.says')].map((says) => says.textContent).filter((text) => text.startsWith('step '))[0] || ''"


def check_steps_chart(page, tables):
    at = page.run(HOVER % json.dumps("Duration over"))
    rows = tables("iterations")
    if not at or len(rows) < 2:
        return
    page.send("Input.dispatchMouseEvent", type="mouseMoved", x=at[0], y=at[1])
    said = page.run(SAYS)
    found = re.match(r"step (-?\d+): (.*)", said)
    expect(bool(found), f"the chart of steps says {said!r} where the mouse is")
    if found:
        shown = [float(value) for value in re.findall(r"([\d.,]+) (?:ns|µs|ms|s)\b", found[2].replace(",", ""))]
        lengths = [int(row["dur_ns"]) for row in rows if row["iteration"] == found[1]]
        scales = [length / scale for length in lengths for scale in (1, 1e3, 1e6, 1e9)]
        expect(bool(shown) and all(any(abs(value - scaled) <= 1e-3 * scaled for scaled in scales) for value in shown),
               f"step {found[1]}: the chart says {said!r}, the table {lengths}")


FLAMES = "[...document.querySelectorAll('.flame')].map((flame) => flame.querySelector('.frame').getAttribute('aria-label'))"


def check_flames(page, tables):
    """The width of the whole is the sum of the column; keys move and zoom."""
    kinds = {row["kind"] for row in tables("stacks")}
    shown = page.run(FLAMES)
    expect(len(shown) == len(kinds), f"{len(shown)} flame graphs, not {kinds}")
    for kind in kinds:
        column = "host_self_ns" if kind == "host" else "device_ns"
        total = sum(max(0, int(row[column] or 0)) for row in tables("stacks") if row["kind"] == kind)
        found = [re.search(r"\): ([\d.,]+) ", label) for label in shown if label.startswith(f"all ({kind})")]
        value = float(found[0][1].replace(",", "")) if found and found[0] else 0
        expect(any(abs(value - total / scale) <= 1e-3 * total / scale for scale in (1, 1e3, 1e6, 1e9)), f"flame graph of {kind}: {shown}, not {total} ns")
    if kinds:
        page.run("document.querySelector('.flame').focus()")
        for key in ("ArrowDown", "Enter"):
            page.send("Input.dispatchKeyEvent", type="keyDown", key=key)
        says = page.run("document.querySelector('.flame').parentElement.querySelector('.says').textContent")
        expect("of all" in says and not says.startswith("all ("), f"keys do not move in the flame graph: {says!r}")


STRIPS = """(() => { const strips = document.querySelector('.strips');
	return strips ? strips.parentElement.querySelector('.status').textContent : null; })()"""


def check_strips(page, tables):
    has_cores = any(row.get("core") for row in tables("events"))
    before = page.run(STRIPS)
    expect((before is not None) == has_cores, f"strips of cores: {before!r}")
    if before:
        page.run("document.querySelector('.strips').focus()")
        page.send("Input.dispatchKeyEvent", type="keyDown", key="+")
        expect(page.run(STRIPS) != before, "the key + does not zoom the strips")


# -- the page ----------------------------------------------------------------------------------------------------------


def check_sections(page):
    ids = page.run("[...document.querySelectorAll('nav a')].map((link) => link.hash.slice(1))")
    expect(len(ids) >= 3, f"only these sections: {ids}")
    for name in ids:
        top = page.run(f"""(() => {{ document.querySelector('nav a[href="#{name}"]').click();
			return new Promise((done) => requestAnimationFrame(() => done(document.getElementById('{name}').getBoundingClientRect().top))); }})()""")
        hidden = page.run(f"document.getElementById('{name}').querySelectorAll('table, details, svg, canvas, ol, ul, p').length === 0")
        expect(top < 900, f"a click on {name} does not show it: top={top}")
        expect(not hidden, f"section {name} is empty")
    expect(page.run("document.querySelectorAll('.failed[role=alert]').length") == 0, "a section failed: " +
           str(page.run("[...document.querySelectorAll('.failed')].map((part) => part.textContent)")))
    expect(page.run("document.querySelector('main').textContent.match(/NaN|undefined|Infinity|\\[object/)") is None,
           "a figure is NaN, undefined, Infinity or an object: " + str(page.run(
               "document.querySelector('main').textContent.match(/.{60}(NaN|undefined|Infinity|\\[object).{20}/s)")))


# What a page of ours consists of; nothing of it comes from the trace.
TAGS = set("""html head meta title link style body header nav main section div span p a ul ol li dl dt dd h1 h2 h3 h4 figure
	figcaption table caption thead tbody tr th td button input label select option details summary pre strong noscript script
	canvas svg g rect text line""".split())


def check_markup(page):
    """Texts of the trace became neither markup nor script."""
    found = page.run("[...document.querySelectorAll('*')].map((part) => [part.localName, [...part.attributes].map((of) => of.name)])")
    tags = {tag for tag, _ in found}
    events = {name for _, names in found for name in names if name.startswith("on") or name in ("src", "srcdoc", "xlink:href")}
    links = page.run("[...document.querySelectorAll('[href]')].map((part) => part.getAttribute('href'))")
    expect(tags <= TAGS, f"there are elements that the page does not make: {tags - TAGS}")
    expect(not events, f"there are attributes that the page does not set: {events}")
    expect(all(re.fullmatch(r"#[a-z]*|tables/[A-Za-z0-9_.-]+|run\.json|data:,", link) for link in links), f"links lead elsewhere: {links}")
    expect(page.run("window.broken") is None, "a script of the trace has run")


def check_reachable(page):
    """Names of what can be acted upon; tooltips by keyboard; colours that can be read."""
    page.send("Accessibility.enable")
    nodes = page.send("Accessibility.getFullAXTree")["nodes"]
    for node in nodes:
        role = node.get("role", {}).get("value")
        if role in ("button", "link", "textbox", "searchbox", "checkbox", "combobox", "image", "img") and not node.get("ignored"):
            expect(bool(node.get("name", {}).get("value")), f"a {role} has no name: {json.dumps(node)[:200]}")
    page.send("Accessibility.disable")
    page.send("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)
    page.run("window.scrollTo(0, 0); document.querySelector('details[open] th button').focus({preventScroll: true})")
    page.send("Input.dispatchKeyEvent", type="keyDown", key="Tab", code="Tab", windowsVirtualKeyCode=9)
    tip = page.run("""new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
		const tip = document.getElementById('tip'); done(tip.hidden ? '' : tip.textContent); })))""")
    expect(bool(tip), "the keyboard reaches no tooltip")
    page.send("Input.dispatchKeyEvent", type="keyDown", key="Escape")
    expect(page.run("document.getElementById('tip').hidden"), "Escape leaves the tooltip")


CONTRAST = """(() => {
	const style = getComputedStyle(document.documentElement);
	const light = (name) => {
		const parts = style.getPropertyValue(name).trim().slice(1).match(/../g).map((part) => parseInt(part, 16) / 255)
			.map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
		return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
	};
	const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
	const texts = [['--text', '--back'], ['--text', '--panel'], ['--dim', '--back'], ['--dim', '--panel'], ['--link', '--back'],
		['--text', '--share'], ['--frame-text', '--shade0'], ['--frame-text', '--shade1'], ['--frame-text', '--shade2'],
		['--frame-text', '--shade3'], ['--frame-text', '--shade4']].filter(([a, b]) => ratio(a, b) < 4.5);
	const marks = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => ['--series' + i, '--back']).filter(([a, b]) => ratio(a, b) < 3);
	return [getComputedStyle(document.body).backgroundColor, texts.concat(marks).map((pair) => pair.join(' on '))];
})()"""


def check_colours(page, pictures, path):
    backs = {}
    for scheme in ("light", "dark"):
        page.colours(scheme)
        page.open(path)
        backs[scheme], weak = page.run(CONTRAST)
        expect(not weak, f"{scheme}: too little contrast: {weak}")
        page.picture(os.path.join(pictures, scheme + ".png"))
    expect(backs["light"] != backs["dark"], "light and dark are one")
    switched = page.run("""(() => { const select = document.getElementById('theme'); select.value = 'light';
		select.dispatchEvent(new Event('change')); return getComputedStyle(document.body).backgroundColor; })()""")
    expect(switched == backs["light"], "the switch does not switch")
    page.colours("light")


def check_sizes(page, pictures, path):
    page.open(path, width=380, height=800)
    wide = page.run("document.documentElement.scrollWidth")
    expect(wide <= 380, f"a narrow window scrolls sideways: {wide} pixels")
    page.picture(os.path.join(pictures, "narrow.png"))
    page.open(path)
    expect(page.print(os.path.join(pictures, "print.pdf")).startswith(b"%PDF"), "cannot be printed")


def check(folder, pictures):
    path = os.path.join(folder, "report.html")
    in_page = page_tables(path)
    with open(os.path.join(folder, "run.json"), encoding="utf-8") as file:
        run = json.load(file)
    tables = Tables(folder, in_page)
    os.makedirs(pictures, exist_ok=True)
    with browser.Browser() as page:
        page.send("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        page.open(path)
        check_sections(page)
        check_verdict(page, tables, run)
        check_bars(page, tables)
        check_steps_chart(page, tables)
        check_flames(page, tables)
        check_strips(page, tables)
        check_reachable(page)
        for name, table in in_page.items():
            check_table(page, name, os.path.join(folder, table["file"]))
        check_markup(page)
        check_colours(page, pictures, path)
        check_sizes(page, pictures, path)
        for complaint in page.complaints():
            expect(False, complaint)
    return in_page


def page_tables(path):
    """The tables in the page, as its data has them."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    data = re.search(r'<script type="application/json" id="flextrace-data">(.*?)</script>', text, re.S)[1]
    return {name: table for name, table in json.loads(data)["tables"].items() if table["rows"]}


def main():
    if not browser.find():
        print("skipped: there is no Chromium")
        return 77
    names = check(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else os.path.join(sys.argv[1], "pictures"))
    for problem in problems[:40]:
        print(problem)
    print(f"{len(names)} tables, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
