#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_pftrace.py DIR...: holds trace.pftrace of each DIR (or trace.pftrace.gz) against trace.json and the tables
beside it, as they are without filters: the same slices, instants, counters, flows and losses, at the same times, on the
same lines, with the same arguments. Says every violation; exits 1 if there is one, 2 if there is no file.

trace_pb2 is made of trace.proto by protoc --python_out."""
import collections
import csv
import glob
import gzip
import json
import math
import os
import sys

from google.protobuf.message import DecodeError

import pftrace

NS_PER_US = 1000
MAX_EXACT = 1 << 53
ARROWS = {"ac2g", "message", "fwdbwd", "critical_path"}
PARTS = {"DmaI": " \u00b7 DMA in", "Prep": " \u00b7 prep", "DmaO": " \u00b7 DMA out",
         "dma_in": " \u00b7 DMA in", "prepare": " \u00b7 prep", "dma_out": " \u00b7 DMA out"}
MAX_TOLD = 5
n_violations = 0
told = collections.Counter()


def complain(directory, text):
    global n_violations
    n_violations += 1
    told[directory] += 1
    if told[directory] <= MAX_TOLD:
        print(f"{directory}: {text}")


# -- trace.json ------------------------------------------------------------------------------------


def ns_of(text):
    """Decimal microseconds, exactly."""
    whole, _, rest = text.partition(".")
    return int(whole) * NS_PER_US + int((rest + "000")[:3])


class Json:
    def __init__(self, path):
        with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
            root = json.load(file, parse_float=Decimal)
        self.base = root["baseTimeNanoseconds"]
        self.sites = {(site["cat"], site["name"]): (site["file"], site["line"]) for site in root["sites"]}
        processes, lines, self.order = {}, {}, {}
        for event in root["traceEvents"]:
            if event["ph"] == "M" and event["name"] == "process_name":
                processes[event["pid"]] = event["args"]["name"]
            if event["ph"] == "M" and event["name"] == "thread_name":
                lines[event["pid"], event["tid"]] = event["args"]["name"]
        self.processes, self.lines = processes, lines
        self.events = [event for event in root["traceEvents"] if event["ph"] != "M"]
        self.n_lost = sum(int(event["args"]["count"]) for event in self.events if event.get("cat") == "loss")

    def track(self, event):
        pid = event["pid"]
        return pid, self.processes[pid], self.lines[pid, event["tid"]]

    def time(self, event, key="ts"):
        return ns_of(event[key].text) + (self.base if key == "ts" else 0)


class Decimal(float):
    """A number that still has its digits."""

    def __new__(cls, text):
        number = super().__new__(cls, text)
        number.text = text
        return number


# -- what is the same ------------------------------------------------------------------------------


def plain(value):
    """Arguments of both files in one form: half a surrogate pair is no text in UTF-8."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()} or None
    if isinstance(value, list):
        return [plain(one) for one in value] or None
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
        return float(value)
    if isinstance(value, int) and abs(value) >= MAX_EXACT:
        return str(value)
    if isinstance(value, str):
        return "".join("\ufffd" * 3 if "\ud800" <= letter <= "\udfff" else letter for letter in value)
    return value


def frozen(args):
    return json.dumps(plain(args) or {}, sort_keys=True)


def said(args):
    """Of trace.pftrace: what is certified says so, null is a text, and an empty list is nothing."""
    # "unnamed" is for reading the file again: trace.json is not read so
    args = {key: value for key, value in args.items()
            if (key, value) not in (("status", "certified"), ("unnamed", 1))}
    return frozen(none_is_nothing(args))


def none_is_nothing(value):
    if isinstance(value, dict):
        return {key: none_is_nothing(one) for key, one in value.items()}
    if isinstance(value, list):
        return [none_is_nothing(one) for one in value]
    return {} if value is None else value


def pid_of(track):
    """Losses are processes of their own in trace.json, and of none in trace.pftrace."""
    return (track.pid or {"flextrace losses": 1, "flextrace left out": 2}.get(track.process), track.process, track.name)


def compare(directory, what, left, right, names=("trace.json", "trace.pftrace")):
    left, right = collections.Counter(left), collections.Counter(right)
    for only, name in ((left - right, names[0]), (right - left, names[1])):
        if only:
            rows = sorted(map(repr, only))[:MAX_TOLD]
            complain(directory, f"{sum(only.values())} {what} only in {name}, as\n\t" + "\n\t".join(rows))
    return sum(left.values())


def compare_slices(directory, chrome, trace):
    def of_json():
        for event in chrome.events:
            if event["ph"] != "X":
                continue
            args = dict(event.get("args", {}))
            site = args.pop("file", ""), args.pop("line", 0)
            yield (*chrome.track(event), chrome.time(event), chrome.time(event, "dur"), event["name"],
                   event.get("cat", ""), frozen(args)), site

    def of_perfetto():
        for one in trace.slices:
            yield (*pid_of(one.track), one.start, one.end - one.start, one.name, one.category,
                   said(one.args)), (one.file, one.line)

    expected, found = list(of_json()), list(of_perfetto())
    compare(directory, "places", chrome.sites.items(),
            {((key[6], key[5]), site) for key, site in found if chrome.sites.get((key[6], key[5])) == site})
    n = compare(directory, "slices", [key for key, _ in expected], [key for key, _ in found])
    # a place that trace.json does not tell is that of its name, or none
    places = collections.defaultdict(list)
    for key, site in found:
        places[key].append(site)
    for key, site in expected:
        allowed = [site] if site[0] else [site, chrome.sites.get((key[6], key[5]))]
        if key in places and not any(one in allowed for one in places[key]):
            complain(directory, f"{key} is at {places[key]}, not at {allowed}")
    return n


def compare_points(directory, chrome, trace):
    n = compare(directory, "instants",
                [(*chrome.track(event), chrome.time(event), event["name"], event.get("cat", ""),
                  frozen(event.get("args", {}))) for event in chrome.events if event["ph"] == "i"],
                [(*pid_of(one.track), one.time, one.name, one.category, said(one.args))
                 for one in trace.instants if one.category not in ARROWS])
    for one in trace.instants:
        if one.has_flow != (one.category in ARROWS):
            complain(directory, f"an instant with an arrow that is none of one, or without one: {one}")
    values = []
    for event in chrome.events:
        if event["ph"] == "C":
            (unit, value), = event["args"].items()
            values.append((event["pid"], chrome.processes[event["pid"]], event["name"], chrome.time(event),
                           "" if unit == "value" else unit, float(value)))
    n += compare(directory, "values", values, [(one.process[1], one.process[0], one.name, one.time, one.unit,
                                                float(one.value)) for one in trace.counters])
    return n


def compare_flows(directory, chrome, trace):
    departures, arrows = {}, []
    for event in chrome.events:
        if event["ph"] == "s":
            departures[event["id"]] = (*chrome.track(event), chrome.time(event))
        elif event["ph"] == "f":
            arrows.append((departures[event["id"]], (*chrome.track(event), chrome.time(event))))
    return compare(directory, "arrows", arrows, [((*pid_of(track), time), (*pid_of(to), to_time))
                                                 for track, time, to, to_time in trace.flows])


def compare_order(directory, chrome, trace):
    """Lines of each process, in the order in which they are shown."""
    shown = [(pid, name) for (pid, _), name in chrome.lines.items()]
    ranked = sorted(trace.descriptors.values(), key=lambda track: track.sibling_order_rank)
    tracks = [pid_of(trace.track_of(track.uuid)) for track in ranked
              if track.uuid and not track.HasField("counter") and not track.HasField("process") and
              (track.HasField("thread") or track.parent_uuid) and not trace.is_deep(track)]
    found = [(pid, name) for pid, _, name in tracks]
    for pid in {pid for pid, _ in shown + found}:
        if [name for of, name in shown if of == pid] != [name for of, name in found if of == pid]:
            complain(directory, f"lines of {pid} stand in another order than in trace.json")


def compare_machines(directory, trace):
    """Where there are several hosts, and no arrow leads from one to another, each is a machine."""

    def host_of(uuid):
        thing = trace.things.get(str(uuid), {})
        while "of" in thing:
            thing = trace.things[str(thing["of"])]
        return thing.get("host", "")

    hosts = {thing.get("host", "") for thing in trace.things.values()
             if isinstance(thing, dict) and thing["is"] == "process"}
    by_pid = {track.process.pid: host_of(uuid) for uuid, track in trace.descriptors.items()}
    is_one = len(hosts) < 2 or any(by_pid[track.pid] != by_pid[to.pid] for track, _, to, _ in trace.flows)
    placed = {(trace.machine_names.get(trace.machine_of[uuid], ""), host_of(uuid), trace.machine_of[uuid] > 0)
              for uuid, track in trace.descriptors.items() if track.HasField("process")}
    expected = {("", host, False) if is_one else (host, host, True) for _, host, _ in placed}
    if placed != expected or is_one != (len(trace.sequences) == 1):
        complain(directory, f"machines, hosts and whether they are apart are {placed}, not {expected}")


# -- tables ----------------------------------------------------------------------------------------


def rows_of(directory, name):
    path = os.path.join(directory, "tables", name)
    if not os.path.exists(path):
        return
    csv.field_size_limit(1 << 30)
    with open(path, encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def text_of(cell):
    """As the guides read it: a leading apostrophe guards what a spreadsheet would calculate."""
    return cell[1:] if cell.startswith("'") and len(cell) > 1 and cell[1] in "=+-@\t\r'" else cell


def name_in_csv(name):
    return name.replace("\0", "\ufffd")


def compare_tables(directory, trace):
    devices = {track.process.pid for track in trace.descriptors.values()
               if track.HasField("process") and " device " in track.process.process_name}
    expected = []
    for row in rows_of(directory, "events.csv"):
        name = text_of(row["name"])
        name = name + PARTS.get(row["kind"], "") if name else row["kind"]
        expected.append((int(row["start_ns"]), int(row["end_ns"]), name, row["err_ns"], row["status"]))
    found = [(one.start, one.end, name_in_csv(one.name), str(one.args.get("err_ns", "")), one.args.get("status", ""))
             for one in trace.slices if one.track.pid in devices]
    n = compare(directory, "device rows", expected, found, ("events.csv", "trace.pftrace"))
    stamps = collections.defaultdict(list)
    for row in rows_of(directory, "events.csv"):
        stamps[row["name"], row["start_ns"], row["end_ns"]].append([row[f"ts{i}"] or "0" for i in range(1, 6)])
    for one in trace.slices:
        cycles = one.args.get("cycles") if one.track.pid in devices else None
        rows = stamps.get((one.name, str(one.start), str(one.end)))
        if isinstance(cycles, dict) and rows and "TS1" in cycles and \
                [str(cycles.get(f"TS{i}", 0)) for i in range(1, 6)] not in rows:
            complain(directory, f"stamps of {one} are {rows} in events.csv")
    host = [(int(row["start_ns"]), int(row["end_ns"]), text_of(row["name"]) or row["kind"])
            for row in rows_of(directory, "host.csv")]
    found = [(one.start, one.end, name_in_csv(one.name)) for one in trace.slices
             if one.track.pid and one.track.pid not in devices and "found" not in one.args]
    n += compare(directory, "host rows", host, found, ("host.csv", "trace.pftrace"))
    return n


def check(directory):
    names = [glob.glob(os.path.join(directory, "trace." + suffix + "*")) for suffix in ("json", "pftrace")]
    if [len(found) for found in names] != [1, 1]:
        print(f"{directory}: no trace.json and trace.pftrace")
        sys.exit(2)
    chrome = Json(names[0][0])
    try:
        trace = pftrace.Trace(pftrace.read_bytes(names[1][0]))
    except (pftrace.Wrong, DecodeError) as error:
        complain(directory, str(error))
        return
    counts = {"slices": compare_slices(directory, chrome, trace), "points": compare_points(directory, chrome, trace),
              "arrows": compare_flows(directory, chrome, trace), "rows": compare_tables(directory, trace)}
    compare_order(directory, chrome, trace)
    compare_machines(directory, trace)
    if chrome.n_lost != trace.n_lost:
        complain(directory, f"{chrome.n_lost} lost, TraceStats say {trace.n_lost}")
    if any(math.isnan(one.value) or math.isinf(one.value) for one in trace.counters):
        complain(directory, "a counter's value is no number")
    print(f"{directory}: {', '.join(f'{n} {what}' for what, n in counts.items())}, {trace.n_lost} lost, "
          f"{len(trace.packets)} packets")


def compare_packed(packed, other):
    """--same PACKED OTHER: PACKED has the packets of OTHER, compressed."""
    paths = [os.path.join(name, "trace.pftrace") for name in (packed, other)]
    packets = [pftrace.read_packets(pftrace.read_bytes(path)) for path in paths]
    (inside, n_bundles), (plain_packets, n_none) = packets
    if inside != plain_packets or n_none or not n_bundles:
        complain(packed, f"{len(inside)} packets in {n_bundles} bundles, {len(plain_packets)} packets in {other}")
    print(f"{packed}: {len(inside)} packets in {n_bundles} bundles")


if sys.argv[1:2] == ["--same"]:
    compare_packed(*sys.argv[2:])
else:
    for argument in sys.argv[1:]:
        check(argument)
sys.exit(n_violations > 0)
