#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""known_values.py FLEXTRACE DATA: converts real recordings that lie beside the repository and holds what the tables say
against what other analysers, and exact arithmetic over the files, say of them. Says every difference; exits 1 if there
is one, 77 where the recordings are absent."""
import csv
import functools
import glob
import json
import os
import subprocess
import sys
import tempfile

FLEXTRACE, DATA = sys.argv[1:]
n_differences = 0


@functools.cache
class Conversion:
    def __init__(self, name):
        self.name = name
        self.dir = tempfile.TemporaryDirectory()
        subprocess.run([FLEXTRACE, "convert", "--formats=csv", "--with=critical_path", "-o", self.dir.name, os.path.join(DATA, name)],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def rows(self, table):
        folder = os.path.join(self.dir.name, "tables")
        path = os.path.join(folder if os.path.isdir(folder) else self.dir.name, table + ".csv")
        if not os.path.exists(path):  # there is no row
            return []
        with open(path, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def expect(self, what, value, known, tolerance=0):
        global n_differences
        if abs(value - known) > tolerance:
            n_differences += 1
            print(f"{self.name}: {what} is {value}, known is {known}")


def total(rows, column):
    return sum(int(row[column]) for row in rows)


def check_time(conversion, busy_ns, wall_ns, tolerance):
    """Of a recording with one device."""
    rows = conversion.rows("breakdown")
    conversion.expect("number of devices", len(rows), 1)
    conversion.expect("busy_ns", int(rows[0]["busy_ns"]), busy_ns, tolerance)
    conversion.expect("wall_ns", int(rows[0]["wall_ns"]), wall_ns, tolerance and 1)
    overview = conversion.rows("overview")
    for column in ("compute_ns", "exposed_communication_ns", "exposed_memory_ns", "idle_ns"):
        conversion.expect(f"{column} over time", total(overview, column), total(rows, column))
    return rows[0]


def check_launches(conversion, name, known):
    """Of calls whose name begins so; empty: of all."""
    rows = [row for row in conversion.rows("launches") if (row["name"].startswith(name) if name else not row["name"])]
    for column, value in known.items():
        conversion.expect(f"{column} of launches {name}", total(rows, column), value)


def check_kineto():
    with open(os.path.join(DATA, "kineto/expected.json"), encoding="utf-8") as file:
        expected = json.load(file)
    for name, known in expected.items():
        device = known["device"]
        conversion = Conversion("kineto/" + name)
        check_time(conversion, device["busy_union_ns"], device["last_end_ns"] - device["first_ts_ns"], 0)
        known = device["launch_to_start_ns"]
        check_launches(conversion, "", {"works": device["with_host_partner"], "min_ns": known["min"],
                                        "max_ns": known["max"], "early": device["start_before_launch"],
                                        "without_launch": device["events"] - device["with_host_partner"]})


# As Holistic Trace Analysis 0.6.1 has them where it computes in doubles of ns (HTA_DISABLE_NS_ROUNDING) and these hold
# the times; else by exact arithmetic. Copies of MTIA (dma_request) are memory, its pe_exe (there: "other") is computation.
CLASSES = {
    "sampled_rank-0": ("0", {"compute_ns": 210320000, "exposed_communication_ns": 336983000, "exposed_memory_ns": 353000,
                             "communication_ns": 396199000, "compute_communication_ns": 59204000, "compute_memory_ns": 10000,
                             "communication_memory_ns": 950000, "compute_communication_memory_ns": 12000}),
    "sampled_rank-1": ("1", {"compute_ns": 271973000, "exposed_communication_ns": 303523000, "exposed_memory_ns": 4554000,
                             "communication_ns": 379053000, "compute_communication_ns": 67626000, "compute_memory_ns": 18000,
                             "communication_memory_ns": 4028000, "compute_communication_memory_ns": 7904000}),
    "resnet50_num_workers_4_worker0.pt.trace": ("0", {"compute_ns": 594868000, "exposed_memory_ns": 19545000,
                                                      "host_wait_ns": 175026000, "kernel_wait_ns": 10642000,
                                                      "other_idle_ns": 1469000}),
    "ns_resolution_rank-0": ("0", {"compute_ns": 468153602, "host_wait_ns": 1347125, "kernel_wait_ns": 6227613,
                                   "other_idle_ns": 0}),
    "mtia_inference_rank_0": ("17", {"compute_ns": 419693063, "memory_ns": 40170760, "idle_ns": 19045765}),
}
QUEUES = {  # queue: works, most that waited, time in which none did, time in all
    "sampled_rank-0": {"7": (1052, 80, 321066000, 1202956000), "84": (8, 2, 866201000, 1051963000)},
    "sampled_rank-1": {"7": (1002, 91, 326442000, 1203821000), "23": (126, 2, 1226114000, 1231202000)},
    "resnet50_num_workers_4_worker0.pt.trace": {"7": (9258, 522, 215949000, 837985000)},
    "ns_resolution_rank-0": {"7": (6095, 1022, 1197161, 479815300)},
}


def check_hta():
    for name, (device, known) in CLASSES.items():
        conversion = Conversion(f"kineto/{name}.json.gz")
        check_classes(conversion, device, known)
        queues = {row["queue"]: row for row in conversion.rows("queue_length")}
        for queue, values in QUEUES.get(name, {}).items():
            for column, value in zip(("works", "max_length", "empty_ns", "wall_ns"), values):
                conversion.expect(f"{column} of queue {queue}", int(queues[queue][column]), value)
        if name.startswith("mtia"):
            check_launches(conversion, "runFunction", {"works": 73, "total_ns": 531345108, "min_ns": 74099, "max_ns": 20080156})
            conversion.expect("bytes of copies", total(conversion.rows("bandwidth"), "bytes"), 788439608 + 460800)


def check_tracelens(name, n_events, wall_ns):
    """TraceLens adds doubles: it is wrong by up to 1 ns an event."""
    conversion = Conversion(f"tracelens/{name}.json.gz")
    with open(os.path.join(DATA, f"tracelens/{name}_gpu_timeline.csv"), newline="", encoding="utf-8") as file:
        known = {row["type"]: round(float(row["time ms"]) * 1e6) for row in csv.DictReader(file)}
    row = check_time(conversion, known["busy_time"], wall_ns, n_events)
    for column, kind in (("compute_ns", "computation_time"), ("exposed_communication_ns", "exposed_comm_time"),
                         ("exposed_memory_ns", "exposed_memcpy_time"), ("idle_ns", "idle_time"),
                         ("communication_ns", "total_comm_time"), ("memory_ns", "total_memcpy_time")):
        conversion.expect(column, int(row[column]), known[kind], n_events)


def check_collectives():
    """17 NCCL kernels beside the computation of the same device, 12 of which the file calls collectives."""
    conversion = Conversion("tracelens/resnet_act_checkpoint.json.gz")
    row = check_time(conversion, 84002073, 86567708, 3653)
    conversion.expect("communication_ns", int(row["communication_ns"]), 71516523)
    rows = conversion.rows("communication")
    conversion.expect("communication in all", int(rows[0]["total_ns"]), 71516523)
    conversion.expect("exposed in all", int(rows[0]["exposed_ns"]), int(row["exposed_communication_ns"]))
    bytes_of = {"Long": 8, "BFloat16": 2}
    path = os.path.join(DATA, "tracelens/resnet_act_checkpoint_coll_analysis.csv")
    with open(path, newline="", encoding="utf-8") as file:
        known = list(csv.DictReader(file))
    for one in known:
        n_bytes = int(float(one["In msg nelems"])) * bytes_of[one["dtype"]]
        size = str(1 << n_bytes.bit_length() - 1)
        found = [row for row in rows if row["size_bytes"] == size and row["op"].replace("_", "") == one["Collective name"]]
        conversion.expect(f"lines of {size} bytes", len(found), 1)
        conversion.expect("count", total(found, "count"), int(one["operation_count"]))
        conversion.expect("bytes", total(found, "bytes"), n_bytes * int(one["operation_count"]))
        conversion.expect("total_ns", total(found, "total_ns"), round(float(one["dur_sum"]) * 1000))


def check_sums(name, device, known):
    check_classes(Conversion(name), device, known)


def check_classes(conversion, device, known):
    """Of one device of several, or of the only one."""
    row = [row for row in conversion.rows("breakdown") if row["device"] == device][0]
    for column, value in known.items():
        conversion.expect(f"{column} of device {device}", int(row[column]), value)


def owner_of(row):
    return row["rank"], row["host"], row["pid"]


def check_parts(conversion, table, whole, parts):
    """In each line of a table."""
    for number, row in enumerate(conversion.rows(table), 2):
        conversion.expect(f"line {number} of {table}: sum of parts of {whole}", sum(int(row[part]) for part in parts), int(row[whole]))
        for part in parts:
            if int(row[part]) < 0:
                conversion.expect(f"line {number} of {table}: {part}", int(row[part]), 0)


def check_all_adds_up(name):
    """What holds for any recording, in each line of a table and between tables."""
    conversion = Conversion(name)
    work = ["compute_ns", "exposed_communication_ns", "exposed_memory_ns", "exposed_prepare_ns"]
    check_parts(conversion, "breakdown", "busy_ns", work)
    check_parts(conversion, "breakdown", "idle_ns", ["host_wait_ns", "kernel_wait_ns", "other_idle_ns"])
    check_parts(conversion, "breakdown", "wall_ns", ["busy_ns", "idle_ns"])
    check_parts(conversion, "communication", "total_ns", ["hidden_ns", "exposed_ns"])
    check_parts(conversion, "critical_path_summary", "wall_ns",
                [kind + "_ns" for kind in ("host", "launch_delay", "queue_delay", "compute", "communication", "memory",
                                           "prepare", "wait")])
    conversion.expect("sum of pieces", total(conversion.rows("critical_path"), "dur_ns"),
                      total(conversion.rows("critical_path_summary"), "wall_ns"))
    devices = conversion.rows("breakdown")
    sums = {owner_of(row): row for row in devices}  # the last line of an owner is the sum of its devices
    for owner, row in sums.items():
        parts = [part for part in conversion.rows("overview") if owner_of(part) == owner]
        for column in work + ["idle_ns"]:
            conversion.expect(f"{column} of {owner} over time", total(parts, column), int(row[column]))
    whole = [row for row in conversion.rows("key_averages") if not row["window"]]
    for owner in {owner_of(row) for row in whole}:
        rows = [row for row in whole if owner_of(row) == owner]
        host = [row for row in rows if row["side"] == "host"]
        device = [row for row in rows if row["side"] == "device"]
        if host and device:
            conversion.expect(f"device_self_ns of {owner}", total(host, "device_self_ns"), total(device, "device_self_ns"))
        for row in host:
            if row["host_self_ns"] and not 0 <= int(row["host_self_ns"]) <= int(row["host_total_ns"]):
                conversion.expect("host_self_ns of " + row["name"], int(row["host_self_ns"]), int(row["host_total_ns"]))


def list_recordings():
    patterns = ("kineto/*.gz", "tracelens/*.json.gz", "nsys/*.sqlite", "jax/*.pb", "aie/test?", "flex-json/[absm]*_*.json",
                "flex-json/*_by_rank", "tt-metal/device-log/*.csv", "tt-metal/ops-perf-results/*.csv*")
    for pattern in patterns:
        yield from sorted(glob.glob(pattern, root_dir=DATA))


def check_critical_path():
    """By hand: cudaDeviceSynchronize (20 us) returns 13 us after the end of the last kernel (123 us), which began 1 us
    after its launch had returned, in an empty queue: its memset had ended 15 us before. The rest is the host's."""
    conversion = Conversion("kineto/cuda_event_sync_multi_stream.json.gz")
    rows = conversion.rows("critical_path_summary")
    conversion.expect("number of paths", len(rows), 1)
    known = {"wall": 62477000, "host": 62340000, "launch_delay": 1000, "queue_delay": 0, "compute": 123000,
             "communication": 0, "memory": 0, "prepare": 0, "wait": 13000}
    for kind, ns in known.items():
        conversion.expect(kind + "_ns", int(rows[0][kind + "_ns"]), ns)
    conversion.expect("sum of pieces", total(conversion.rows("critical_path"), "dur_ns"), known["wall"])
    # A blocking copy stands behind each kernel: nothing else runs meanwhile, so that all kernels bound the run.
    # The other file has one queue, which is never idle for long; a thread of the profiler ends last there.
    for name, ns in (("nsys/saxpy-mpi.sqlite", 88573480), ("nsys/cloverleaf.sqlite", 294404540)):
        conversion = Conversion(name)
        conversion.expect("compute_ns of the path", total(conversion.rows("critical_path_summary"), "compute_ns"), ns)


def main():
    if not os.path.isdir(os.path.join(DATA, "kineto")):
        print("no recordings beside the repository")
        sys.exit(77)
    check_kineto()
    check_hta()
    check_tracelens("bert_small_h100", 61, 3907825)
    check_tracelens("bert_small_mi300", 61, 3495976)
    check_collectives()
    check_critical_path()
    check_sums("nsys/cloverleaf.sqlite", "0", {"compute_ns": 294404540, "memory_ns": 9346285 + 44638, "busy_ns": 303795463})
    check_launches(Conversion("nsys/cloverleaf.sqlite"), "cudaLaunchKernel",
                   {"works": 1312, "total_ns": 10091522, "min_ns": 4812, "max_ns": 53807, "before_return": 5})
    check_sums("nsys/saxpy-mpi.sqlite", "0", {"compute_ns": 88573480, "memory_ns": 186001123 + 98698477})
    check_sums("jax/conv_minimal_legacy.xplane.pb", "0", {"memory_ns": 889028, "idle_ns": 26978700, "wall_ns": 27867728})
    check_sums("jax/conv_minimal_legacy.xplane.pb", "7", {"compute_ns": 3586493, "idle_ns": 12174808, "wall_ns": 15761301})
    for name in list_recordings():
        check_all_adds_up(name)
    sys.exit(n_differences > 0)


main()
