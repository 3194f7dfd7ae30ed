# SPDX-License-Identifier: Apache-2.0
"""Holds what flextrace shows against what is true in a world."""
import csv
import json
import os
import subprocess

SLACK_NS = 1.01  # shown times are whole ns, true ones are not
TIME_LIMIT_S = 300
PHASES = {"DmaI": (0, 1), "Prep": (1, 2), "Exec": (2, 3), "DmaO": (3, 4)}
# causes of losses.csv that tell why work has no row
WORK_IS_COUNTED = ("missing_stamp", "stamp_order", "outlier", "no_clock", "duplicate", "unused",
                   "malformed", "negative_duration")
MEETING_IS_COUNTED = ("unmatched_begin", "unmatched_end")


class ConversionFailed(Exception):
    """flextrace ended with an error, or did not end."""


class Verdict:
    """What one world came to."""

    def __init__(self):
        self.n_rows = 0
        self.n_certified = 0
        self.n_unbounded = 0  # certified, but without err_ns
        self.outside = []  # (how far beyond the bound in ns, tag, kind, true, shown, err_ns)
        self.n_inversions = 0  # certified edges of one clock shown in another order than the true
        self.n_uncounted = 0  # work that has no row, and that no loss counts
        self.n_dropped = 0  # points that tie hosts, left out as false
        self.half_widths_ns = []
        self.seen = set()
        self.edges = {}  # clock: [(shown_ns, true_ns)]
        self.warnings = []
        self.closes = True  # run.json says that all input is accounted for

    def worst_ns(self):
        return max((row[0] for row in self.outside), default=0)

    def is_remarkable(self):
        return bool(self.outside or self.n_inversions or self.n_uncounted or self.n_unbounded
                    or not self.closes)

    def add_row(self, row, tag, true_ns, clock, tick_ns, start_ns):
        """Judges one row. start_ns: what the times of the output count from, to the world's."""
        self.n_rows += 1
        self.seen.add(tag)
        if row["status"] != "certified":
            return
        if row["err_ns"] == "":
            self.n_unbounded += 1
            return
        err_ns = int(row["err_ns"])
        shown_ns = (int(row["start_ns"]) - start_ns, int(row["end_ns"]) - start_ns)
        beyond_ns = max(off_by_ns(shown, true, tick_ns)
                        for shown, true in zip(shown_ns, true_ns)) - err_ns
        self.n_certified += 1
        self.half_widths_ns.append(err_ns)
        if beyond_ns > SLACK_NS:
            self.outside.append((beyond_ns, tag, row["kind"], true_ns, shown_ns, err_ns))
        if clock is not None:
            self.edges.setdefault(clock, []).extend(zip(shown_ns, true_ns))


def off_by_ns(shown_ns, true_ns, tick_ns):
    """How far a shown time is from the truth. A stamp may be up to a tick before what it marks."""
    off_ns = shown_ns - true_ns
    return off_ns if off_ns > 0 else max(0, -off_ns - tick_ns)


def count_inversions(edges, tick_ns):
    """Edges that are before one that is shown earlier. What is shown at one time has no order."""
    edges = sorted(edges)
    n, latest_ns, begin = 0, -1e30, 0
    while begin < len(edges):
        end = begin
        while end < len(edges) and edges[end][0] == edges[begin][0]:
            end += 1
        same = [true_ns for _, true_ns in edges[begin:end]]
        n += sum(true_ns + SLACK_NS + tick_ns < latest_ns for true_ns in same)
        latest_ns = max(latest_ns, *same)
        begin = end
    return n


def convert(build, out, recording):
    """Runs flextrace over a recording. The plug-in of babeltrace2 is that of the same build."""
    plugins = os.path.join(build, "converter", "bt2")
    command = [os.path.join(build, "cli", "flextrace"), "convert", "-j", "1", "-q", "-f", "csv",
               "-o", out]
    command += [trace.path for trace in recording.traces] + recording.options
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT_S,
                              env=dict(os.environ, BABELTRACE_PLUGIN_PATH=plugins), check=False)
    except subprocess.TimeoutExpired as error:
        raise ConversionFailed(f"no end within {TIME_LIMIT_S} s") from error
    if done.returncode:
        raise ConversionFailed(f"exit status {done.returncode}: {done.stderr[-400:].strip()}")


def rows_of(out, table):
    """The rows of a table; one without a row has no file."""
    path = os.path.join(out, "tables", table + ".csv")
    if not os.path.exists(path):
        return
    with open(path, newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def losses_of(out):
    losses = {}
    for row in rows_of(out, "losses"):
        losses[row["cause"]] = losses.get(row["cause"], 0) + int(row["count"])
    return losses


def truth_of_work(row, tag, truth):
    """(begin, end) of what a row of work shows, or None if its stamps do not tell."""
    if row["kind"] in PHASES:
        first, last = PHASES[row["kind"]]
    else:
        there = [i for i in range(5) if row[f"ts{i + 1}"] != "" and truth[tag].stamps[i]]
        if not there:
            return None
        first, last = there[0], there[-1]
    return truth[tag].times_ns[first], truth[tag].times_ns[last]


def tag_of_mark(row):
    """The tag of a row that firmware marked: its zone, or its run."""
    if row["kind"] == "Zone":
        return "Zone", int(row["name"].split()[-1], 0) if row["name"] else -1
    return row["kind"], int(row["job"] or -1)


def judge_device(recording, out, tags):
    """Rows of a device: work and what firmware marked. tags: {source: tag}"""
    verdict = Verdict()
    for row in rows_of(out, "events"):
        is_mark = row["core"] != ""
        tag = tag_of_mark(row) if is_mark else tags.get(row["source"])
        if tag not in recording.truth:
            continue
        what = recording.truth[tag]
        true_ns = what.times_ns if is_mark else truth_of_work(row, tag, recording.truth)
        if true_ns is None:
            verdict.n_rows += 1
            verdict.seen.add(tag)
            continue
        verdict.add_row(row, tag, true_ns, what.clock, recording.tick_ns, recording.start_ns)
    losses = losses_of(out)
    missing = [tag for tag, what in recording.truth.items() if tag not in verdict.seen
               and sum(1 for stamp in getattr(what, "stamps", ()) if stamp) >= 2]
    verdict.n_uncounted = max(0, len(missing) - sum(losses.get(x, 0) for x in WORK_IS_COUNTED))
    return verdict


def judge_ranks(recording, out, tags):
    """Rows of hosts: meetings and scopes of ranks."""
    verdict = Verdict()
    for row in rows_of(out, "host"):
        tag = tags.get(row["source"])
        if tag in recording.truth:
            verdict.add_row(row, tag, recording.truth[tag].times_ns, None, 0, recording.start_ns)
    losses = losses_of(out)
    n_missing = len(recording.truth) - len(verdict.seen)
    verdict.n_uncounted = max(0, n_missing - sum(losses.get(x, 0) for x in MEETING_IS_COUNTED))
    return verdict


def judge(build, recording, is_ranks, folder):
    """Writes a recording to disk, converts it and judges what comes out."""
    out = os.path.join(folder, "out")
    places = [trace.write() for trace in recording.traces]
    convert(build, out, recording)
    with open(os.path.join(out, "run.json"), encoding="utf-8") as file:
        run = json.load(file)
    tags = {}
    for number, name in enumerate(run["inputs"]):
        at = next(i for i, trace in enumerate(recording.traces) if str(trace.uuid) in name)
        tags.update({f"{number}/{place}": tag for place, tag in places[at].items()})
    verdict = (judge_ranks if is_ranks else judge_device)(recording, out, tags)
    verdict.half_widths_ns.sort()
    verdict.n_inversions = sum(count_inversions(edges, recording.tick_ns)
                               for edges in verdict.edges.values())
    verdict.warnings = [f"{warning['id']} {warning['count']}" for warning in run["warnings"]]
    verdict.closes = run["closes"]
    verdict.n_dropped = sum(host["sync_points_dropped"] for host in run["alignment"])
    return verdict
