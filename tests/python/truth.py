# SPDX-License-Identifier: Apache-2.0
"""truth.py calls|lines OUTPUT MODULE,... SCRIPT [ARGUMENT]...: runs a program under sys.setprofile() or sys.settrace()
and writes how often each function of the modules was called, or each line of them begun, as JSON. Shares nothing with
the package under test."""
import collections
import sys
import threading

counts = collections.Counter()
kind, output, modules = sys.argv[1], sys.argv[2], sys.argv[3].split(",")


def name_of(frame):
    """"module.qualified.name", or nothing where the module is none of those."""
    module = frame.f_globals.get("__name__")
    if not any(module == name or str(module).startswith(name + ".") for name in modules):
        return None
    return f"{module}.{getattr(frame.f_code, 'co_qualname', frame.f_code.co_name)}"


def on_profile(frame, event, _):
    if event == "call" and name_of(frame):
        counts[name_of(frame)] += 1


def on_trace(frame, event, _):
    name = name_of(frame)
    if name and event == "call":
        counts[name] += 1
    if name and event == "line":
        counts[f"{name}:{frame.f_lineno}"] += 1
    return on_trace if name else None


def run():
    sys.argv[:] = sys.argv[4:]
    with open(sys.argv[0], encoding="utf-8") as file:
        code = compile(file.read(), sys.argv[0], "exec", dont_inherit=True)
    hook = (sys.setprofile, threading.setprofile, on_profile) if kind == "calls" else (
        sys.settrace, threading.settrace, on_trace)
    hook[1](hook[2])
    hook[0](hook[2])
    try:
        exec(code, {"__name__": "__main__", "__file__": sys.argv[0]})
    finally:
        hook[0](None)


try:
    run()
finally:
    import json  # not before: the program's own import of it is counted
    with open(output, "w", encoding="utf-8") as file:
        json.dump(counts, file, indent=0, sort_keys=True)
