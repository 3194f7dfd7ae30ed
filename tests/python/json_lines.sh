#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# json_lines.sh FLEXTRACE PYTHON CORPUS: tables as lines of JSON have what the CSV files have, of the fuzzers' files,
# which have names and values that are hard to read back; with json alone there is no CSV file, and the lines are the
# same.
set -u
FLEXTRACE=$1
PYTHON=$2
here=$(cd "$(dirname "$0")" && pwd)
corpus=$(cd "$3" && pwd)
export PYTHONDONTWRITEBYTECODE=1
"$PYTHON" -c 'import pandas' 2>/dev/null || { echo "skipped: pandas is not installed"; exit 77; }
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
fail() {
	echo "FAIL: $*"
	exit 1
}

cat >names.json <<-'END'
	{"baseTimeNanoseconds": 1787000001000000000, "schemaVersion": 1, "traceEvents": [
	{"ph": "X", "cat": "cpu_op", "name": "=1+1", "pid": 1, "tid": 1, "ts": 1.5, "dur": 2},
	{"ph": "X", "cat": "cpu_op", "name": "''@x,\"y\"\nz", "pid": 1, "tid": 1, "ts": 2, "dur": 1},
	{"ph": "X", "cat": "cpu_op", "name": "'plain", "pid": 1, "tid": 1, "ts": 5, "dur": 1},
	{"ph": "X", "cat": "cpu_op", "name": "</script>", "pid": 1, "tid": 1, "ts": 7, "dur": 1},
	{"ph": "X", "cat": "kernel", "name": "k<1>", "pid": 0, "tid": 7, "ts": 9, "dur": 1, "args": {"device": 0, "stream": 7}},
	{"ph": "X", "cat": "cpu_op", "name": "007", "pid": 1, "tid": 1, "ts": 11, "dur": 1}]}
END
n=0
for input in names.json "$corpus"/flex/* "$corpus"/torch/* "$corpus"/tt_csv/* "$corpus"/aie/* "$corpus"/marker_file/*; do
	n=$((n + 1))
	"$FLEXTRACE" convert --formats=csv,json -o "$n" "$input" >log 2>&1 || rm -rf "$n"
done
[ -d 1 ] || { cat log; fail "names.json cannot be converted"; }
"$PYTHON" "$here/json_lines.py" [0-9]* || exit 1
! grep -q '<' 1/tables/host.jsonl || fail "a name could be markup"

"$FLEXTRACE" convert --quiet --formats=json -o alone names.json || fail "json alone"
[ -z "$(find alone -name '*.csv' -o -name '*.txt')" ] || fail "there is a CSV file beside lines of JSON"
for file in alone/tables/*; do
	cmp "$file" "1/tables/${file##*/}" || fail "lines of JSON depend on CSV"
done
"$FLEXTRACE" convert --quiet --formats=csv -o alone names.json || fail "csv alone"
[ -z "$(find alone -name '*.jsonl')" ] || fail "lines of JSON of an earlier conversion are left"

# The guide's examples for jq.
if command -v jq >/dev/null; then
	ln -s 1 out
	awk '/^## /{ in_jq = $2 == "jq" } /^```/{ is_code = in_jq && !is_code; next } is_code' "$here/../../docs/guides/json.md" >guide.sh
	sh -e guide.sh >told || fail "an example of the guide fails"
	"$PYTHON" - <<-'END' || fail "jq reads something else: $(cat told)"
	import json
	events, host = ([json.loads(line) for line in open(f"out/tables/{name}.jsonl", encoding="utf-8")] for name in ("events", "host"))
	lines = [f"{row['name']}\t{row['start_ns']}\t{row['dur_ns']}" for row in events if row["class"] == "COMPUTE_EXEC"]
	sums = {row["name"]: sum(other["dur_ns"] for other in host if other["name"] == row["name"]) for row in host}
	told = open("told", encoding="utf-8").read().split("\n", len(lines))
	assert lines and told[:-1] == lines and {one["name"]: one["total_ns"] for one in json.loads(told[-1])} == sums
	END
else
	echo "jq is not installed: the guide's examples for it are not run"
fi
