#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pftrace.sh FLEXTRACE PYTHON MAKE_TRACE ORACLE_TRACE DATA: trace.pftrace has what trace.json and the tables have, as a
# reader sees it that has only Perfetto's schema: of recordings, of files that are hard to write down, and of real files
# where DATA has them. It is the same whoever reads, with any memory, and packed.
set -eu
FLEXTRACE=$1
PYTHON=$2
MAKE_TRACE=$3
ORACLE_TRACE=$4
DATA=$5
here=$(cd "$(dirname "$0")" && pwd)
golden=$(cd "$here/../golden" && pwd)
export PYTHONDONTWRITEBYTECODE=1
command -v protoc >/dev/null || { echo "skipped: protoc is not installed"; exit 77; }
"$PYTHON" -c 'import google.protobuf' 2>/dev/null || { echo "skipped: Python's protobuf is not installed"; exit 77; }
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
fail() {
	echo "FAIL: $*"
	exit 1
}
mkdir schema inputs out
protoc --python_out=schema -I "$here" trace.proto
export PYTHONPATH="$scratch/schema:$here"

convert() { # convert DIR ARGUMENT...
	dir=$1
	shift
	"$FLEXTRACE" convert --quiet --formats=chrome,csv,pftrace -o "$dir" "$@" >log 2>&1
}

for kind in good lossy many undefined contextless; do
	"$MAKE_TRACE" $kind inputs/$kind
done
for case in "$golden"/*/; do
	"$ORACLE_TRACE" "$case/input.txt" "inputs/golden-$(basename "$case")" 2>/dev/null || true # one is no trace
done
# ranks of one host each
sed '/rank=1 /s/ host=node0/ host=node1/' "$golden/two_ranks/input.txt" >hosts.txt
"$ORACLE_TRACE" hosts.txt inputs/hosts
"$PYTHON" "$here/hostile.py" inputs
for input in inputs/*; do
	convert "out/$(basename "$input")" "$input" || rm -rf "out/$(basename "$input")"
done
[ "$(find out -name trace.pftrace | wc -l)" -ge 29 ] || fail "inputs that do not convert: $(cat log)"
n=0
for input in "$DATA"/flex-json/[abms]*.json "$DATA"/flex-json/*by_rank "$DATA"/kineto/sampled*.gz "$DATA"/kineto/mtia*.gz \
	"$DATA"/aie/*/golden_json.txt "$DATA"/nsys/*.sqlite "$DATA"/tracelens/bert*.json.gz \
	"$DATA"/tt-metal/device-log/*small.csv "$DATA"/tt-metal/ops-perf-results/*trace.csv; do
	[ -e "$input" ] || continue
	n=$((n + 1))
	convert "out/data-$n-$(basename "$input")" "$input" || fail "$input: $(cat log)"
done
"$PYTHON" "$here/check_pftrace.py" out/* || fail "see above"
[ "$(protoc --decode_raw <out/hosts/trace.pftrace | grep -c '^  98: [12]$')" -gt 50 ] || fail "hosts are no machines"

# a recording and a file, as they may be asked for
for input in inputs/golden-every_kind inputs/hostile-kernels.json; do
	name=out/$(basename "$input")
	for option in --workers=1 --workers=16 --memory-limit=1M; do
		convert other $option "$input"
		cmp other/trace.pftrace "$name/trace.pftrace" || fail "$option changes trace.pftrace of $input"
	done
	convert packed --gzip "$input"
	gzip -dc packed/trace.pftrace.gz | cmp - "$name/trace.pftrace" || fail "gzip changes trace.pftrace of $input"
	convert compressed --compress-packets "$input"
	convert packed --compress-packets --gzip "$input"
	gzip -dc packed/trace.pftrace.gz | cmp - "$name/trace.pftrace" || fail "$input is compressed twice"
	"$PYTHON" "$here/check_pftrace.py" --same compressed "$name" || fail "compressed packets of $input are others"
	protoc --decode_raw <"$name/trace.pftrace" >decoded || fail "protoc cannot read trace.pftrace of $input"
	[ "$(grep -c '^1 {' decoded)" -gt 50 ] || fail "protoc finds few packets in $input"
done
"$FLEXTRACE" convert --quiet --formats=pftrace -o other inputs/good
cmp other/trace.pftrace out/good/trace.pftrace || fail "trace.pftrace depends on trace.json"

# what was lost, of no rank that is known, is in the file of each rank, and counts once where they are read back
"$FLEXTRACE" convert --quiet --formats=pftrace --per-rank -o ranks inputs/lossy
for rank in 0 1; do
	protoc --decode_raw <"ranks/trace.rank$rank.pftrace" | grep -q '^ *19: 17$' || fail "rank $rank does not say what was lost"
done
"$FLEXTRACE" convert --quiet --formats=csv -o again ranks/trace.rank*.pftrace
grep -q '^,,,lttng_discarded_events,,,,17,' again/tables/losses.csv || fail "what was lost: $(cat again/tables/losses.csv)"

# several bundles, none of which is longer than Perfetto wants it
"$MAKE_TRACE" large inputs/large
convert compressed --compress-packets inputs/large
convert other inputs/large
"$PYTHON" "$here/check_pftrace.py" --same compressed other || fail "compressed packets of a large file are others"
