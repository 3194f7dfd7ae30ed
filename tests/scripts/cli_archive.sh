#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cli_archive.sh FLEXTRACE MAKE_TRACE PLUGIN: archives have what a conversion without them writes, byte for byte, with
# any number of workers and by babeltrace2; other programs open them; nothing half-written stays.
set -u
FLEXTRACE=$1
MAKE_TRACE=$2
PLUGIN=$3
SOURCE=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
n_failed=0

fail() {
	echo "FAIL: $*" >&2
	n_failed=$((n_failed + 1))
}

python=$(command -v /usr/bin/python3 || command -v python3) || { echo "python3 is not installed"; exit 77; }
command -v unzip >/dev/null || { echo "unzip is not installed"; exit 77; }
echo '[]' >none.json
"$FLEXTRACE" convert -q -o probe none.json --archive 2>stderr
if grep -q 'needs libminizip' stderr; then
	[ ! -e probe ] || { echo "FAIL: something was written without libminizip"; exit 1; }
	echo "flextrace was built without libminizip"
	exit 77
fi

kernel() {
	printf '{"name":"%s Cmpt Exec","ph":"X","pid":%d,"tid":7,"ts":%d,"dur":50,"attr":{"TS1":%d,"TS2":%d,"TS3":%d,"TS4":%d,"TS5":%d}},\n' \
		"$1" "$2" "$3" $(($3 * 1000)) $(($3 * 1000)) $(($3 * 1000)) $((($3 + 50) * 1000)) $((($3 + 50) * 1000))
}
{
	echo '['
	for rank in 0 1 2; do
		kernel conv $rank 1000
		kernel add $rank 1100
		printf '{"name":"step","ph":"X","pid":%d,"tid":1,"ts":995,"dur":150},\n' $rank
	done
	echo '{"name":"load","ph":"C","pid":0,"ts":1001,"args":{"value":3}}]'
} >in.json

# convert DIR OPTION...
convert() {
	to=$1
	shift
	"$FLEXTRACE" convert -q -o "$to" "$@" 2>stderr || { cat stderr >&2; fail "$to"; }
}

# check NAME ARCHIVE DIR: other programs open it, and it has what is in DIR.
check() {
	unzip -tqq "$2" >unzipped 2>&1 || { cat unzipped >&2; fail "$1: unzip does not read it"; }
	"$python" "$SOURCE/check_archive.py" "$2" "$3" >checked 2>&1 || { cat checked >&2; fail "$1"; }
}

# Everything. The directory has the same files, without traces.
for formats in chrome,csv,report pftrace,json,csv,text; do
	name=all.$formats
	convert "$name" in.json --per-rank --formats="$formats"
	convert "$name.zip" in.json --per-rank --formats="$formats" --archive
	check "$name" "$name.zip/flextrace.zip" "$name"
	(cd "$name" && find . ! -name 'trace.*' | sort) >files
	(cd "$name.zip" && find . ! -name flextrace.zip | sort) | cmp -s - files || fail "$name: other files beside the archive"
done
convert all.gzip in.json --gzip
convert all.gzip.zip in.json --gzip --archive=all
check "all, gzip" all.gzip.zip/flextrace.zip all.gzip

# A table that has further files beside it, and says where it is.
cat >aie.json <<'END'
[{"name":"process_name","ph":"M","pid":0,"args":{"name":"core_trace for tile2,1"}},
{"name":"INSTR_EVENT_0","ph":"B","ts":2203,"pid":0,"tid":0},{"name":"INSTR_EVENT_0","ph":"E","ts":2204,"pid":0,"tid":0},
{"name":"INSTR_EVENT_1","ph":"B","ts":2275,"pid":0,"tid":1},{"name":"INSTR_EVENT_1","ph":"E","ts":2276,"pid":0,"tid":1}]
END
mkdir one two
(cd one && convert aie ../aie.json)
(cd two && convert aie ../aie.json --archive)
unzip -Z1 two/aie/flextrace.zip | grep -qx tables/tile2,1.json || fail "no file of the core"
check "AI engines" two/aie/flextrace.zip one/aie

# Ranks, of JSON and of Perfetto's format, which goes before; that of the other format stays outside.
for formats in chrome pftrace chrome,pftrace csv; do
	name=ranks.$formats
	convert "$name" in.json --per-rank --formats="$formats"
	convert "$name.zip" in.json --per-rank --formats="$formats" --archive=ranks --gzip
	check "$name" "$name.zip/ranks.zip" "$name"
done
[ "$(unzip -Z1 ranks.csv.zip/ranks.zip | wc -l)" -eq 4 ] || fail "not three ranks and a manifest"
[ -f ranks.chrome,pftrace.zip/trace.rank2.pt.trace.json.gz ] || fail "TensorBoard's files are not outside"
[ ! -e ranks.chrome,pftrace.zip/trace.rank2.pftrace.gz ] || fail "a member is a file, too"
grep -q '"ranks.zip/trace.rank2.pftrace"' ranks.pftrace.zip/run.json || fail "run.json does not tell where a rank is"

unzip -p ranks.csv.zip/ranks.zip perfetto_manifest.json | grep -q '"offset_ns":[[:space:]]*0' ||
	fail "members begin before the epoch, where Perfetto drops the names of processes"

# Times since the Unix epoch, which are beyond 2^53.
for rank in 0 1; do
	printf '{"schemaVersion":1,"distributedInfo":{"rank": %d,"world_size":2},"baseTimeNanoseconds":1700000000000000000,"traceEvents":[
		{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":5,"dur":2,"args":{"device":0,"stream":7}}]}' $rank >torch$rank.json
done
convert epoch torch0.json torch1.json --per-rank
convert epoch.zip torch0.json torch1.json --per-rank --archive=ranks
check "times since the Unix epoch" epoch.zip/ranks.zip epoch
unzip -p epoch.zip/ranks.zip perfetto_manifest.json | grep -q '"offset_ns":[[:space:]]*1699999' || fail "no offset since the epoch"

# What the checker is there to find.
mkdir broken
cp ranks.chrome.zip/ranks.zip broken/
"$python" - broken/ranks.zip <<'END'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as old:
    members = {name: old.read(name) for name in old.namelist()}
members["perfetto_manifest.json"] = members["perfetto_manifest.json"].replace(b'"version":\t1', b'"version":\t2').replace(
    b"rank1 on", b"rank0 on")
members["trace.rank2.pt.trace.json"] = members["trace.rank2.pt.trace.json"].replace(b"conv", b"CONV")
with zipfile.ZipFile(sys.argv[1], "w") as new:
    for name, text in members.items():
        new.writestr(name, text)
END
"$python" "$SOURCE/check_archive.py" broken/ranks.zip ranks.chrome >checked && fail "the checker does not see a broken archive"
for text in 'version 2' 'on one machine' 'rank2.*differs' 'it has a time'; do
	grep -q "$text" checked || { cat checked >&2; fail "the checker does not say: $text"; }
done

# The same bytes whoever reads. A plug-in with sanitizers in a program without them: the runtime must come first.
asan=$(ldd "$PLUGIN" | awk '/libasan/ { print $3; exit }')
"$MAKE_TRACE" many many
for archive in all ranks; do
	for workers in 1 8; do
		convert $archive.$workers many --workers=$workers --formats=csv,pftrace --per-rank --archive=$archive
	done
	ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 LD_PRELOAD="$asan" BABELTRACE_PLUGIN_PATH=$(dirname "$PLUGIN") \
		babeltrace2 convert many --component=sink.flextrace.timeline \
		--params="output-dir=\"$archive.sink\",formats=\"csv,pftrace\",per-rank=true,archive=\"$archive\"" ||
		fail "babeltrace2 makes no archive: $archive"
	for other in 8 sink; do
		diff -rq $archive.1 $archive.$other || fail "$archive: $other differs"
	done
done

# A full disk: the archive is named, and nothing is left of it.
"$MAKE_TRACE" large large
for archive in all ranks; do
	(
		ulimit -f 8
		exec "$FLEXTRACE" convert -q -o full large --formats=pftrace --per-rank --archive=$archive
	) 2>stderr
	code=$?
	[ $code -eq 4 ] || fail "full disk, $archive: exit code $code"
	grep -q 'path=full/.*, reason=File too large' stderr || { cat stderr >&2; fail "full disk, $archive: not said"; }
	[ -z "$(find full -name '*.tmp' -o -name '*.zip' -o -name run.json)" ] || fail "full disk, $archive: $(ls full)"
	rm -rf full
done

# An earlier archive of everything does not stay beside newer tables.
convert again in.json --archive
convert again in.json
[ ! -e again/flextrace.zip ] || fail "an earlier archive stays"

# refuse TEXT OPTION...
refuse() {
	text=$1
	shift
	"$FLEXTRACE" convert -q -o refused in.json "$@" 2>stderr
	code=$?
	[ $code -eq 1 ] && grep -q "$text" stderr && [ ! -e refused ] || { cat stderr >&2; fail "$* is not refused: $code"; }
}
refuse 'takes all or ranks: value=tar' --archive=tar
refuse 'needs `per-rank`' --archive=ranks

[ $n_failed -eq 0 ] || { echo "$n_failed failed" >&2; exit 1; }
echo "all good"
