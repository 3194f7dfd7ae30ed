# SPDX-License-Identifier: Apache-2.0
"""parts.py [OUTPUT]: json and difflib at work, parts of it between enable() and disable(). With OUTPUT, these count
calls of the same functions there as truth.py does, by sys.setprofile(), and write them as JSON."""
import collections
import difflib
import json
import sys
import threading

counts = collections.Counter()


def count(frame, event, _):
    module = str(frame.f_globals.get("__name__"))
    if event == "call" and module.partition(".")[0] in ("__main__", "json", "difflib"):
        counts[f"{module}.{getattr(frame.f_code, 'co_qualname', frame.f_code.co_name)}"] += 1


def set_count(function):
    threading.setprofile(function)
    sys.setprofile(function)


if len(sys.argv) > 1:
    def enable():
        set_count(count)

    def disable():
        set_count(None)
else:
    from flextrace import disable, enable


def encode(n):
    return json.dumps({"list": list(range(n))}, indent=1)


def ends_inside(n):
    encode(n)
    disable()
    encode(n)


def begins_inside(n):
    encode(n)
    enable()
    return encode(n)


class Worker(threading.Thread):
    def run(self):
        self.found = difflib.get_close_matches("apple", ["ape", "apply", "peach"])


def raises():
    json.loads("[1,")


encode(1)
enable()
encode(2)
ends_inside(3)
encode(4)
begins_inside(5)
worker = Worker()
worker.start()
worker.join()
try:
    raises()
except ValueError:
    pass
disable()
disable()
enable()
enable()
encode(6)
disable()
encode(7)

if len(sys.argv) > 1:
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        own = {f"__main__.{function.__name__}" for function in (enable, disable, set_count)}
        json.dump({name: n for name, n in counts.items() if name not in own}, file)
