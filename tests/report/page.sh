#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# page.sh FLEXTRACE PYTHON PICTURES [SEED...]: report.html of made traces in a browser, and the page that compares two of
# them, with plain names or, for each SEED, with names as an attacker writes them.
set -u
flextrace=$1
python=$2
pictures=$3
shift 3
here=$(dirname "$0")
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
export PYTHONDONTWRITEBYTECODE=1

# look NAME [SEED]: makes traces, converts them, and looks at the page.
look() {
	out=$scratch/$1
	mkdir "$scratch/traces-$1"
	"$python" "$here/make_trace.py" "$scratch/traces-$1" ${2:+"$2"} || exit 1
	"$flextrace" convert --quiet --report-rows=200 --output="$out" "$scratch/traces-$1"/*.json || exit 1
	"$python" "$here/check_report.py" "$out" "$pictures/$1"
	code=$?
	[ "$code" -eq 0 ] || exit "$code"
}

# look_diff NAME [SEED]: the same traces and later ones compared, in folders whose path would end a script.
look_diff() {
	later="$scratch/a</script><img src=x onerror='window.broken = 1'>\\u003c\"-$1"
	mkdir -p "$scratch/later-$1" "$scratch/a<"
	"$python" "$here/make_trace.py" --later "$scratch/later-$1" ${2:+"$2"} || exit 1
	"$flextrace" convert --quiet --formats=csv --output="$later" "$scratch/later-$1"/*.json || exit 1
	"$flextrace" diff --csv --output="$scratch/$1.html" "$scratch/$1" "$later" >"$scratch/$1.csv" || exit 1
	"$python" "$here/check_diff.py" "$scratch/$1.html" "$scratch/$1.csv" "$pictures/diff-$1" || exit 1
}

# A page of any data, and none where none is asked for.
look_plain() {
	look plain
	"$python" "$here/fuzz_data.py" "$scratch/plain/report.html" 20 || exit 1
	look_diff plain
	"$python" "$here/fuzz_data.py" "$scratch/plain.html" 20 || exit 1
	"$flextrace" convert --quiet --report-rows=20 --without=stragglers,collectives --output="$scratch/apart" "$scratch/traces-plain"/*.json ||
		exit 1
	"$python" "$here/check_report.py" "$scratch/apart" "$pictures/apart" || exit 1
	"$flextrace" convert --quiet --without=report --output="$scratch/none" "$scratch/traces-plain"/*.json || exit 1
	[ ! -e "$scratch/none/report.html" ] || { echo "--without=report: there is a page"; exit 1; }
}

[ $# -gt 0 ] || look_plain
for seed in "$@"; do
	look "seed$seed" "$seed"
	look_diff "seed$seed" "$seed"
done
