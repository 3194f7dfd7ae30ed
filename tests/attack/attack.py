#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes recordings whose truth is known, converts them with flextrace, and counts the certified
rows whose truth is outside their bound.

    attack.py --build BUILD KIND        worlds drawn from seeds
    attack.py --build BUILD --findings  the known cases of findings.py

Exits 1 if a row is outside, 2 if no row is but a conversion failed."""
import argparse
import ast
import contextlib
import os
import shutil
import sys
import tempfile

import breaks
import devices
import markers
import ranks
from findings import FINDINGS
from judge import ConversionFailed, judge

KINDS = {"devices": devices, "breaks": breaks, "markers": markers, "ranks": ranks}
N_SHOWN = 3  # rows of each world, with --verbose
N_BREAKS_SHOWN = 12


class Totals:
    """What all worlds came to."""

    def __init__(self):
        self.n = dict.fromkeys(("worlds", "failed", "rows", "certified", "outside", "inversions",
                                "uncounted", "dropped"), 0)
        self.half_widths_ns = []

    def add(self, verdict):
        self.n["worlds"] += 1
        self.n["rows"] += verdict.n_rows
        self.n["certified"] += verdict.n_certified
        self.n["outside"] += len(verdict.outside)
        self.n["inversions"] += verdict.n_inversions
        self.n["uncounted"] += verdict.n_uncounted
        self.n["dropped"] += verdict.n_dropped
        self.half_widths_ns += verdict.half_widths_ns

    def add_failure(self):
        self.n["worlds"] += 1
        self.n["failed"] += 1

    def show(self):
        self.half_widths_ns.sort()
        columns = {name: str(value) for name, value in self.n.items()}
        columns["half-width p50 ns"] = quantile(self.half_widths_ns, .5)
        columns["half-width p99 ns"] = quantile(self.half_widths_ns, .99)
        print("  ".join(columns))
        print("  ".join(value.rjust(len(name)) for name, value in columns.items()))

    def exit_status(self):
        return 1 if self.n["outside"] else 2 if self.n["failed"] else 0


def quantile(sorted_values, part):
    if not sorted_values:
        return "-"
    return str(sorted_values[min(len(sorted_values) - 1, int(part * len(sorted_values)))])


@contextlib.contextmanager
def folder_of(keep, name):
    """An empty folder for one world: in `keep`, or one that is gone afterwards."""
    if not keep:
        with tempfile.TemporaryDirectory(prefix="flextrace-attack-") as folder:
            yield folder
        return
    folder = os.path.join(keep, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    yield folder


def run_world(arguments, kind, seed, overrides):
    """Makes, converts and judges one world."""
    module = KINDS[kind]
    with folder_of(arguments.keep, f"{kind}-{seed}") as folder:
        settings = module.settings(seed, overrides)
        recording = module.make(settings, os.path.join(folder, "trace"))
        if arguments.verbose:
            show_settings(kind, settings, recording.options)
        return judge(arguments.build, recording, kind == "ranks", folder)


def show_settings(kind, settings, options):
    values = dict(vars(settings))
    seed, found = values.pop("seed"), values.pop("breaks", None)
    text = " ".join(f"{name}={value}" for name, value in values.items())
    if found:
        text += f" breaks={found[:N_BREAKS_SHOWN]} of {len(found)}"
    print(f"{kind} {seed}: {text} {' '.join(options)}")


def line_of(verdict):
    text = (f"rows {verdict.n_rows}  certified {verdict.n_certified}  outside "
            f"{len(verdict.outside)}  worst {verdict.worst_ns():.0f} ns  inversions "
            f"{verdict.n_inversions}  uncounted {verdict.n_uncounted}")
    if verdict.n_dropped:
        text += f"  dropped {verdict.n_dropped}"
    if verdict.n_unbounded:
        text += f"  certified without err_ns {verdict.n_unbounded}"
    if not verdict.closes:
        text += "  input is not accounted for"
    if verdict.warnings:
        text += f"  [{', '.join(verdict.warnings)}]"
    return text


def show_rows(verdict):
    for beyond_ns, tag, kind, true_ns, shown_ns, err_ns in sorted(
            verdict.outside, key=lambda row: row[0], reverse=True)[:N_SHOWN]:
        print(f"    {kind} of {tag}: shown {shown_ns[0]} to {shown_ns[1]}, true {true_ns[0]:.0f} "
              f"to {true_ns[1]:.0f}, err_ns {err_ns}, beyond it by {beyond_ns:.0f} ns")


def run_one(arguments, totals, name, world, shows_all=False):
    """Runs one world and prints its line if there is something to say. world: kind, seed, and
    what is set."""
    try:
        verdict = run_world(arguments, *world)
    except ConversionFailed as error:
        totals.add_failure()
        print(f"{name}  failed: {error}", flush=True)
        return
    totals.add(verdict)
    if shows_all or arguments.verbose or verdict.is_remarkable():
        print(f"{name}  {line_of(verdict)}", flush=True)
    if arguments.verbose:
        show_rows(verdict)


def run_findings(arguments, totals):
    for finding in FINDINGS:
        promise = "holds" if finding.keeps_promise else "does not hold"
        print(f"{finding.name}: {finding.situation} What the promise asks for {promise}.")
        run_one(arguments, totals, f"    {finding.kind} {finding.seed}",
                (finding.kind, finding.seed, finding.settings), shows_all=True)


def overrides_of(kind, texts):
    """{name: value} of the texts NAME=VALUE. A value is a Python literal, else a string."""
    known = set(vars(KINDS[kind].settings(0, {}))) - {"seed"}
    overrides = {}
    for text in texts:
        name, is_set, value = text.partition("=")
        if not is_set or name not in known:
            print(f"attack.py: {text}: {kind} has these settings: {' '.join(sorted(known))}",
                  file=sys.stderr)
            sys.exit(2)
        try:
            overrides[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            overrides[name] = value
    return overrides


def parse():
    parser = argparse.ArgumentParser(description="Attacks flextrace with recordings whose truth "
                                     "is known. README.md beside this file tells more.")
    parser.add_argument("--build", required=True, help="folder of a build of flextrace")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first world (1)")
    parser.add_argument("--worlds", type=int, default=20, help="number of worlds (20)")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE",
                        dest="settings", help="a setting that is the same in all worlds")
    parser.add_argument("--keep", metavar="DIR", help="keep traces and output of worlds there")
    parser.add_argument("--verbose", action="store_true",
                        help="tell settings of each world and the worst rows")
    parser.add_argument("--findings", action="store_true", help="run the known cases")
    parser.add_argument("kind", nargs="?", choices=sorted(KINDS))
    arguments = parser.parse_args()
    if bool(arguments.kind) == arguments.findings:
        parser.error("give a kind of worlds or --findings")
    if not os.access(os.path.join(arguments.build, "cli", "flextrace"), os.X_OK):
        parser.error(f"{arguments.build} has no cli/flextrace")
    return arguments


def main():
    arguments = parse()
    totals = Totals()
    if arguments.findings:
        run_findings(arguments, totals)
    else:
        overrides = overrides_of(arguments.kind, arguments.settings)
        for seed in range(arguments.seed, arguments.seed + arguments.worlds):
            run_one(arguments, totals, f"{arguments.kind} {seed}",
                    (arguments.kind, seed, overrides))
    totals.show()
    return totals.exit_status()


if __name__ == "__main__":
    sys.exit(main())
