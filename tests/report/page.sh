#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# page.sh FLEXTRACE PYTHON PICTURES [SEED...]: report.html of made traces in a browser, with plain names or, for each SEED,
# with names as an attacker writes them.
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

# A page of any data, and none where none is asked for.
look_plain() {
	look plain
	"$python" "$here/fuzz_data.py" "$scratch/plain/report.html" 20 || exit 1
	"$flextrace" convert --quiet --without=report --output="$scratch/none" "$scratch/traces-plain"/*.json || exit 1
	[ ! -e "$scratch/none/report.html" ] || { echo "--without=report: there is a page"; exit 1; }
}

[ $# -gt 0 ] || look_plain
for seed in "$@"; do
	look "seed$seed" "$seed"
done
