#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cli_pairs.sh FLEXTRACE CHECKERS: files of Flex and torch of one run on the command line; dialects and ranks as told.
set -u
FLEXTRACE=$1
CHECKERS=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
n_failed=0

fail() {
	echo "FAIL: $*" >&2
	n_failed=$((n_failed + 1))
}

has() {
	grep -q "$2" "$1" || { fail "$1 has no $2"; cat "$1" >&2; }
}

# convert OPTION...: converts in/ into out/ and has it checked.
convert() {
	rm -rf out
	"$FLEXTRACE" convert -o out "$@" in >report 2>stderr || { cat stderr >&2; fail "convert $*"; return; }
	"$CHECKERS/check_trace" out/trace.json || fail "convert $*: trace.json is bad"
	"$CHECKERS/check_csv" out || fail "convert $*: a CSV file is bad"
	"$CHECKERS/check_run" out >books || { cat books >&2; fail "convert $*: run.json is bad"; }
}

# Three trips of two kernels: Flex's clock counts from 0, torch's from 5 s behind its base.
mkdir in
awk 'BEGIN {
	printf "[" >"in/flex.json"
	printf "{\"schemaVersion\":1,\"baseTimeNanoseconds\":1700000000000000000,\"traceEvents\":[" >"in/torch.json"
	for (i = 0; i < 3; i++) {
		at = 1000 + i * 900 + i * i * 40
		for (k = 0; k < 2; k++) {
			from = at + 20 + 50 * k
			printf "{\"name\":\"k%d Cmpt Exec\",\"ph\":\"X\",\"pid\":4,\"tid\":1,\"ts\":%d,\"dur\":30,\"attr\":{" \
				"\"TS1\":%d,\"TS2\":%d,\"TS3\":%d,\"TS4\":%d,\"TS5\":%d}},", k, from,
				from * 500, from * 500, from * 500, (from + 30) * 500, (from + 30) * 500 + 6 >"in/flex.json"
			printf "{\"name\":\"k%d\",\"cat\":\"kernel\",\"ph\":\"X\",\"pid\":0,\"tid\":7,\"ts\":%d,\"dur\":30," \
				"\"args\":{\"correlation\":%d}},", k, from + 5000000, 1 + i * 2 + k >"in/torch.json"
		}
		printf "{\"name\":\"AIU Roundtrip\",\"ph\":\"X\",\"pid\":4,\"tid\":2,\"ts\":%d,\"dur\":120}%s", at,
			i < 2 ? "," : "]" >"in/flex.json"
		printf "{\"name\":\"aiuSuperNodeExecution\",\"cat\":\"privateuse1_runtime\",\"ph\":\"X\",\"pid\":9,\"tid\":9," \
			"\"ts\":%d.25,\"dur\":120}%s", at + 5000000, i < 2 ? "," : "]}" >"in/torch.json"
	}
}'

convert
has report "Flex on torch's clock"
has report '^  rank 4  *9 '
has out/run.json '"pairs":	9,'
has out/run.json '"offset_ns":	"1700000005000000000",'
has out/run.json '"uncertain":	false'
has out/tables/losses.csv '^,,,duplicate,,,,9,'
[ "$(wc -l <out/tables/host.csv)" -eq 4 ] || fail "not three trips in host.csv"
[ "$(grep -c ',Exec,' out/tables/events.csv)" -eq 6 ] || fail "not six kernels in events.csv"

convert --torch-ranks=2
grep -q pairings out/run.json && fail "files of different ranks are put together"
has out/run.json '"torch-ranks":	"2"'
[ "$(grep -c '^2,' out/tables/events.csv)" -eq 6 ] || fail "not six kernels of rank 2"

convert --as=flex
has out/run.json '"as":	"flex"'
[ "$(wc -l <out/tables/host.csv)" -eq 13 ] || fail "not all of torch's events are of the host"

for option in --as=kineto --torch-ranks=1,; do
	"$FLEXTRACE" convert -o out "$option" in 2>stderr
	[ $? -eq 1 ] || fail "$option is no wrong usage"
done
[ "$n_failed" -eq 0 ]
