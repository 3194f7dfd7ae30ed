#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cli_diff.sh FLEXTRACE: two runs are compared: what is slower, exit codes, several runs of a side, and what is converted
# on the way.
set -u
FLEXTRACE=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
n_failed=0

fail() {
	echo "FAIL: $*" >&2
	n_failed=$((n_failed + 1))
}

# table NAME MM RELU: 20 calls of two kernels that take so many ns, give or take 10, in steps, between two host calls.
table() {
	awk -v mm="$2" -v relu="$3" 'BEGIN {
		print "rank,name,kind,device,start_ns,dur_ns"
		for (i = 0; i < 20; i++) {
			print "0,mm,Exec,0," 100000 * i + 10000 "," mm + (i % 3 - 1) * 10
			print "0,relu,Exec,0," 100000 * i + 50000 "," relu + (i % 3 - 1) * 10
			print "0,launch,User,," 100000 * i + 1000 ",500"
		}
	}' >"$1.csv"
	"$FLEXTRACE" convert --quiet --as=table -o "$1" "$1.csv" || fail "$1 is not converted"
}

# expect CODE ARGUMENT...: runs diff, which exits with that code and leaves nothing in the temporary directory.
expect() {
	code=$1
	shift
	mkdir tmp
	TMPDIR=$scratch/tmp "$FLEXTRACE" diff "$@" >out 2>err
	got=$?
	[ $got -eq "$code" ] || fail "diff $*: $got instead of $code: $(cat err)"
	rmdir tmp || { fail "diff $*: left something"; rm -rf tmp; }
}

# verdict NAME: of the last comparison, as CSV.
verdict() {
	awk -F, -v name="$1" '$3 == name { print $4 }' out
}

table a 5000 3000
table b 5600 2990
table a2 5010 3000
table b2 5590 3000
table comma,ted 5000 3000

expect 0 a b --csv
[ "$(verdict mm)" = slower ] || fail "mm is $(verdict mm)"
[ "$(verdict relu)" = unchanged ] || fail "relu is $(verdict relu)"
[ "$(verdict launch)" = unchanged ] || fail "launch is $(verdict launch)"
expect 0 a b --csv --min-change=0.1
[ "$(verdict relu)" = faster ] || fail "relu is $(verdict relu) without a threshold"
expect 0 a b --csv --rank=1
[ "$(wc -l <out)" -eq 2 ] || fail "rows of a rank that there is not: $(cat out)"
expect 0 a b
grep -q '^  slower .* +12.0 % ' out || fail "no line of mm: $(cat out)"
grep -q '^1 slower, ' out || fail "no summary: $(cat out)"

# For a script: more than allowed, for certain, of what takes a part of the time.
expect 5 a b --fail-if-slower=5%
grep -q 'names=1, worst=Exec: mm, by 12.0 %' err || fail "what is slower is not told: $(cat err)"
expect 5 a b --fail-if-slower=12
expect 0 a b --fail-if-slower=12.1%
expect 0 b a --fail-if-slower=0
expect 0 a a --fail-if-slower=0
expect 0 a b --fail-if-slower=5% --min-share=70
expect 5 a b --fail-if-slower=5% --json
python3 -c 'import json, sys
rows = {row["name"]: row for row in json.load(open("out"))["rows"]}
assert rows["mm"]["verdict"] == "slower" and rows["mm"]["error_ns"] > 0, rows' || fail "JSON: $(cat out)"

# A page besides.
mkdir pages
expect 0 a b --csv --output=pages/diff.html
[ "$(verdict mm)" = slower ] || fail "no rows beside the page"
grep -q '"path":"a"' pages/diff.html || fail "the page does not tell what A is"
grep -q '"device","Exec","mm","slower",20,20,' pages/diff.html || fail "the page does not have mm"
[ "$(ls pages)" = diff.html ] || fail "beside the page there is $(ls pages)"
expect 5 a b --fail-if-slower=5% -o page.html
[ -s page.html ] || fail "no page of what is slower than allowed"
expect 4 a b --output=nowhere/diff.html
expect 4 a b --output=pages

# Several runs of each side, and a name with a comma.
expect 0 a,a2 b,b2 --csv
[ "$(verdict mm)" = slower ] || fail "mm of two runs is $(verdict mm)"
[ "$(awk -F, '$3 == "mm" { print $17 $18 }' out)" = 22 ] || fail "not of the runs: $(cat out)"
expect 0 a comma,ted --csv
[ "$(verdict mm)" = unchanged ] || fail "mm of the same is $(verdict mm)"

# Files of other tools are converted on the way.
printf '[{"name":"k","ph":"X","cat":"kernel","pid":0,"tid":7,"ts":10,"dur":5,"args":{"device":0,"stream":7,"correlation":1}},
{"name":"ProfilerStep#1","ph":"X","cat":"user_annotation","pid":9,"tid":9,"ts":1,"dur":15},
{"name":"ProfilerStep#2","ph":"X","cat":"user_annotation","pid":9,"tid":9,"ts":21,"dur":15},
{"name":"ProfilerStep#3","ph":"X","cat":"user_annotation","pid":9,"tid":9,"ts":41,"dur":15}]' >torch.json
sed 's/"ts":\([24]\)/"ts":1\1/g' torch.json >slow.json
expect 0 torch.json slow.json --csv
[ "$(awk -F, '$3 == "iteration" { print $5, $10, $11 }' out)" = "2 20000.000 70000.000" ] || fail "iterations: $(cat out)"
[ "$(verdict k)" = unknown ] || fail "a single kernel is $(verdict k)"

# What cannot be.
expect 1
expect 1 a
expect 1 a b a
expect 1 a b --fail-if-slower=much
expect 1 a b --csv --json
expect 1 , b
expect 2 a nowhere
expect 2 a,nowhere b
mkdir empty
expect 2 empty a
echo '{"traceEvents": "' >bad.json
expect 2 a bad.json

[ $n_failed -eq 0 ]
