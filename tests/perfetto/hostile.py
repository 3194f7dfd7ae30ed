#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hostile.py DIR: writes files of the torch profiler's form, and one of Flex, with names, arguments and times that are hard to write
down: bytes that are no UTF-8, control characters, a name of 1 MB, none at all, times before the epoch, times of zero
length and times that are far apart."""
import json
import os
import sys


def event(name, start, length, tid=1, pid=1, cat="cpu_op", **members):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": length, **members}


def kernel(name, start, length, correlation, **args):
    return event(name, start, length, tid=7, pid=0, cat="kernel",
                 args={"device": 0, "stream": 7, "correlation": correlation, **args})


def launch(start, length, correlation):
    return event("cudaLaunchKernel", start, length, cat="cuda_runtime", args={"correlation": correlation})


def arrow(phase, start, identifier, tid):
    return {"ph": phase, "cat": "fwdbwd", "name": "fwdbwd", "id": identifier, "pid": 1, "tid": tid, "ts": start, "bp": "e"}


NAMES = ["", " ", "\0", "a\0b", "\x01\x1b[31m\x7f", "\u0085\u2028\u2029", "\ufffd", "\U0001f600", "e\u0301", "</script>",
         "x" * 1000000, "\u00e9" * 500000, "\\", "\"", "a,b", "'=1+1", "name · DMA in", "%s%n", "../../x", "\ud800",
         "\udc00\ud800", "null", "0"]
VALUES = [None, True, False, 0, -1, 1.0, 1.5e300, -2.5e-300, 1e3, 2**53, 2**63 - 1, -2**63, 2**64 - 1, 10**30, "", "\0",
          [], {}, [[]], [{}], [1, "a", None, [2.5, {"b": []}]], {"": ""}, {"a.b": {"c[0]": 1}}, "\ud800", "y" * 100000]

names = [event(name, 10 * i, 5, args={name: i, "i": name}) for i, name in enumerate(NAMES)]
values = [event(f"value {i}", 10 * i, 5, args={"v": value, "w": {"v": [value]}}) for i, value in enumerate(VALUES)]
kernels = [part for i, name in enumerate(NAMES) for part in
           (launch(10 * i, 2, i + 1), kernel(name, 10 * i + 3, 4, i + 1, note=name))]

# what begins, ends and happens at one time, with and without a length
equal = [event("outer", 100, 50), event("same", 100, 50), event("inner", 100, 20), event("nothing", 100, 0),
         event("nothing too", 100, 0), event("next", 120, 30), event("at the end", 150, 0), event("behind", 150, 10),
         {"ph": "i", "s": "t", "name": "now", "pid": 1, "tid": 1, "ts": 100},
         {"ph": "i", "s": "t", "name": "now", "pid": 1, "tid": 1, "ts": 150},
         launch(200, 0, 1), kernel("k", 200, 0, 1), launch(200, 10, 2), kernel("k", 200, 10, 2),
         event("backward", 300, 20, tid=6), event("forward", 300, 10, tid=5), event("backward", 300, 5, tid=4),
         arrow("s", 300, 1, 5), arrow("f", 300, 1, 6), arrow("s", 300, 2, 5), arrow("f", 300, 2, 4)]
for i in range(600):
    equal.append(event(f"deep {i}", 1000 + i, 2000 - 2 * i, tid=2))
for i in range(40):
    equal.append(event(f"crossing {i}", 4000 + i, 100, tid=3))
counters = [{"ph": "C", "name": f"counter {i % 3}", "pid": 1, "tid": 1, "ts": 5 * i, "args": {"v": value}}
            for i, value in enumerate([0, 0, 1, 1, 1, 2.5, -2.5, -7, 1e15, 1e16, 2**62, 1e300, -0.0, 3])]

FILES = {
    "names": (names, {}), "values": (values, {}), "kernels": (kernels, {}), "equal": (equal, {}),
    "counters": (counters + [event("a", 0, 1)], {}), "nothing": ([], {}), "one": ([event("a", 0, 0)], {}),
    "before": ([event("a", -5000000.5, 1), event("b", -1, 2), event("c", 7, 1)], {}),
    "long ago": ([event("a", 1, 1), event("b", 5, 2)], {"baseTimeNanoseconds": -3600000000000}),
    "far": ([event("a", 0, 1), event("b", 4e12, 4e12), event("c", 8.9e15, 1)], {}),
    "late": ([event("a", 1, 1), event("b", 5, 2)], {"baseTimeNanoseconds": 1787000001000000001}),
}



def block(name, peer, start, stop, process, stamps):
    """A control block of Flex: a begin and an end with the stamps of its device."""
    attr = {"Bytes": "4096", "CollGroup": "group", "Peer": str(peer), "Type": "SingleCast",
            **{f"TS{i + 1}": str(stamp) for i, stamp in enumerate(stamps)}}
    return [{"attr": attr, "name": name, "ph": phase, "pid": process, "tid": 1, "ts": time}
            for phase, time in (("B", start), ("E", stop))]


# receives that were posted before and behind what is sent to them, and one that ends when it begins
MESSAGES = []
for i in range(20):
    at = 1000.0 * i
    sent, posted = at + 300, at + (100 if i % 2 else 305)
    MESSAGES += block(f"SenRdmaSend_{i} [sync=s{i}] DmaO", 1, sent, sent + 20, 0,
                      [round(560 * (sent + us)) for us in (2, 2, 3, 4, 15)])
    MESSAGES += block(f"SenRdmaReceive_{i} [4096B] [sync=s{i}] DmaI", 0, posted, at + 340, 1,
                      [round(560 * (posted + us)) for us in (2, at + 330 - posted, at + 331 - posted,
                                                             at + 331 - posted, at + 332 - posted)])
with open(os.path.join(sys.argv[1], "hostile-messages.json"), "w", encoding="ascii") as file:
    json.dump(MESSAGES, file)

for file_name, (events, members) in FILES.items():
    with open(os.path.join(sys.argv[1], f"hostile-{file_name.replace(' ', '-')}.json"), "w", encoding="ascii") as file:
        json.dump({"schemaVersion": 1, **members, "traceEvents": events}, file)
# bytes that no program should write
with open(os.path.join(sys.argv[1], "hostile-bytes.json"), "wb") as file:
    file.write(b'{"schemaVersion": 1, "traceEvents": [\n')
    for i, name in enumerate([b"\xff", b"a\xc0\xafb", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"cut \xe2\x82", b"\xc0\x80",
                              b"\x80" * 1000]):
        file.write(b'{"ph":"X","cat":"%s","name":"%s","pid":1,"tid":1,"ts":%d,"dur":1,"args":{"%s":"%s"}},\n'
                   % (name, name, 2 * i, name, name))
    file.write(b'{"ph":"X","name":"last","pid":1,"tid":1,"ts":50,"dur":1}]}\n')
