#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# read.sh FLEXTRACE PYTHON PACKAGES CORPUS: flextrace.read() of conversions of the fuzzers' files, which have names and
# values that are hard to read back.
set -u
FLEXTRACE=$1
PYTHON=$2
here=$(cd "$(dirname "$0")" && pwd)
corpus=$(cd "$4" && pwd)
export PYTHONPATH="$3" PYTHONDONTWRITEBYTECODE=1
"$PYTHON" -c 'import pandas' 2>/dev/null || { echo "skipped: pandas is not installed"; exit 77; }
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

cat >names.json <<-'END'
	{"traceEvents": [
	{"ph": "X", "cat": "cpu_op", "name": "=1+1", "pid": 1, "tid": 1, "ts": 1.5, "dur": 2},
	{"ph": "X", "cat": "cpu_op", "name": "''@x,\"y\"\nz", "pid": 1, "tid": 1, "ts": 2, "dur": 1},
	{"ph": "X", "cat": "cpu_op", "name": "'plain", "pid": 1, "tid": 1, "ts": 5, "dur": 1},
	{"ph": "X", "cat": "cpu_op", "name": "NA", "pid": 1, "tid": 1, "ts": 7, "dur": 1},
	{"ph": "X", "cat": "cpu_op", "name": "null", "pid": 1, "tid": 1, "ts": 9, "dur": 1},
	{"ph": "X", "cat": "cpu_op", "name": "007", "pid": 1, "tid": 1, "ts": 11, "dur": 1}]}
END
n=0
for input in names.json "$corpus"/flex/* "$corpus"/torch/* "$corpus"/tt_csv/* "$corpus"/aie/* "$corpus"/marker_file/*; do
	n=$((n + 1))
	"$FLEXTRACE" convert -o "$n" "$input" >log 2>&1 || rm -rf "$n"
done
[ -d 1 ] || { cat log; echo "FAIL: names.json cannot be converted"; exit 1; }

# What no conversion of these has: the largest integers, numbers that are none, words among numbers.
mkdir -p made/tables
printf 'address,value\n18446744073709551615,inf\n,\n9223372036854775807,-1.5e-300\n0,nan\n' >made/tables/host.csv
printf 'count,name\n-9223372036854775808,\n' >made/tables/kernels.csv
printf 'given,number\n12,1.5\nSLOW,FAST\n' >made/tables/ops.csv
cat >made/run.json <<-'END'
	{"files": [{"file": "tables/host.csv", "columns": [{"name": "address", "type": "integer"}, {"name": "value", "type": "number"}]},
	{"file": "tables/kernels.csv", "columns": [{"name": "count", "type": "integer"}, {"name": "name", "type": "text"}]},
	{"file": "tables/ops.csv", "columns": [{"name": "given", "type": "integer"}, {"name": "number", "type": "number"}]},
	{"file": "tables/messages.txt"}]}
END
exec "$PYTHON" "$here/read.py" made [0-9]*
