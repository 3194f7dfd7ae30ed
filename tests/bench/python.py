# SPDX-License-Identifier: Apache-2.0
"""python.py BUILD [PAIRS]: what tracing costs a Python program, beside cProfile: user time of each way over
that of the program alone, run in turn; median, least and largest ratio. Run it through tests/scripts/private.sh."""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

PROGRAM = """
import difflib, json
TEXT = [f"line {i % 17} of {i * i % 23}" for i in range(400)]
OTHER = [line if i % 5 else line.upper() for i, line in enumerate(TEXT)]
for i in range(1500):
    "\\n".join(difflib.ndiff(TEXT[:60], OTHER[:60]))
    json.dumps(json.loads(json.dumps({"a": TEXT})), indent=1)
"""
TRACE = ["-m", "flextrace"]
LINES = [*TRACE, "-l", "--functions", "difflib:SequenceMatcher.find_longest_match"]

# name: (options of python3, whether it is recorded)
WAYS = {
    "alone": ([], False),
    "cProfile": (["-m", "cProfile", "-o", os.devnull], False),
    "flextrace --c-functions": ([*TRACE, "--c-functions"], True),
    "flextrace": (TRACE, True),
    "flextrace --modules json": ([*TRACE, "--modules", "json"], True),
    "flextrace -l, one function": (LINES, True),
    "flextrace, nobody records": (TRACE, False),
}


def user_s(flextrace, options, is_recorded):
    """Of the program alone: `record` would count as well, so the program tells its own."""
    tell = "import resource as r; print(r.getrusage(r.RUSAGE_SELF).ru_utime, file=open('user', 'w'))"
    with open("program.py", "w", encoding="utf-8") as file:
        file.write(f"import atexit\natexit.register(lambda: exec({tell!r}))\n{PROGRAM}")
    shutil.rmtree("out", ignore_errors=True)
    record = [flextrace, "record", "--no-convert", "-o", "out", "--"] if is_recorded else []
    subprocess.run([*record, sys.executable, *options, "program.py"], check=True, capture_output=True)
    with open("user", encoding="utf-8") as file:
        return float(file.read())


def main():
    flextrace, packages = (os.path.abspath(os.path.join(sys.argv[1], path)) for path in ("cli/flextrace", "tracer/python"))
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    os.environ["PYTHONPATH"] = packages
    os.environ["FLEXTRACE_PROVIDER"] = os.path.join(packages, "..", "libflextrace-lttng.so")  # also where nobody records
    times = {name: [] for name in WAYS}
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        for _ in range(n):
            for name, (options, is_recorded) in WAYS.items():
                times[name].append(user_s(flextrace, options, is_recorded))
    for name, found in times.items():
        ratios = sorted(time / alone for time, alone in zip(found, times["alone"]))
        print(f"{name:28} {statistics.median(found):6.2f} s  {statistics.median(ratios):5.2f}  "
              f"({ratios[0]:.2f} .. {ratios[-1]:.2f}, n={n})", flush=True)


if __name__ == "__main__":
    main()
