#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cli_errors.sh FLEXTRACE MAKE_TRACE: bad input and wrong usage of `flextrace convert`: each a clear message, the
# right exit code, nothing half-written. And the warnings of what is poor, but good enough.
set -u
FLEXTRACE=$1
MAKE_TRACE=$2
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
n_failed=0
export TMPDIR="$dir/tmp"
mkdir "$TMPDIR"

fail() {
	echo "FAIL: $1" >&2
	sed 's/^/	/' stdout stderr >&2
	n_failed=$((n_failed + 1))
}

# expect NAME EXIT MESSAGE ARGUMENT...: runs `flextrace ARGUMENT...`; MESSAGE is a fixed string of stderr.
expect() {
	name=$1 code=$2 message=$3
	shift 3
	rm -rf out
	"$FLEXTRACE" "$@" >stdout 2>stderr
	got=$?
	[ $got -eq "$code" ] || fail "$name: exit code $got instead of $code"
	if [ -n "$message" ]; then
		grep -qF -- "$message" stderr || fail "$name: no message: $message"
	else
		[ ! -s stderr ] || fail "$name: unexpected message"
	fi
	if [ "$code" -eq 0 ] || [ "$code" -eq 3 ]; then
		[ -s out/run.json ] || fail "$name: no run.json"
	else
		[ ! -e out ] || fail "$name: left something behind: $(ls out)"
	fi
	[ -z "$(find . -name '*.tmp')" ] || fail "$name: half-written files"
	[ -z "$(ls "$TMPDIR")" ] || fail "$name: temporary files stayed"
}

has() { # has FILE STRING
	grep -qF -- "$2" "$1" || fail "$1: no $2"
}

for kind in good streamless foreign empty undefined contextless lossy slow_clock; do
	"$MAKE_TRACE" $kind $kind || exit 1
done
mkdir nothing

# usage
expect "no command" 1 "Usage:"
expect "unknown command" 1 'Unknown command `frobnicate`' frobnicate
expect "no trace" 1 "Trace is missing" convert -o out
expect "no output" 1 "Output directory is missing" convert good
expect "unknown option" 1 'Unknown or misused option `--frobnicate`' convert good -o out --frobnicate
expect "unknown letter" 1 'Unknown or misused option `-x`' convert good -o out -x
expect "missing value" 1 'Value is missing behind option `--formats`' convert good -o out --formats
expect "bad number" 1 "Option \`workers\` takes a whole number: value=two" convert good -o out --workers two
expect "bad range" 1 "Option \`workers\` is out of range" convert good -o out --workers 0
expect "bad real" 1 "Option \`rho-ppm\` is out of range" convert good -o out --rho-ppm=-1
expect "flag with value" 1 "takes yes or no: value=maybe" convert good -o out --gzip=maybe
expect "unknown format" 1 "svg" convert good -o out --formats=csv,svg
expect "empty value" 1 "must not be empty" convert good --output-dir=

# input
expect "missing trace" 2 "Cannot read trace: path=missing, reason=No such file or directory" convert missing -o out
expect "one missing of two" 2 "Cannot read trace: path=missing" convert good missing -o out
expect "a file" 2 "A trace is a directory, this is not: path=good/metadata" convert good/metadata -o out
echo '{"a":1}' >no-trace.json
expect "JSON without events" 2 "no-trace.json" convert no-trace.json -o out
echo '[]' >empty.json
expect "no events in a file" 2 "There is no event: files=1" convert empty.json -o out
expect "one bad input of two" 2 "no-trace.json" convert good no-trace.json -o out
expect "empty directory" 2 "No data: there is no trace" convert nothing -o out
expect "no streams" 2 "No data: the trace has no streams" convert streamless -o out
cp -r good early
sed -i '/^stream {/,$d' early/metadata
expect "ended too early" 2 "No data: the programs ended before LTTng knew their events" convert early -o out
expect "no flextrace events" 2 "no flextrace event" convert foreign -o out
expect "no events at all" 2 "no flextrace event" convert empty -o out
expect "missing image" 2 "Cannot read firmware image: path=fw.elf" convert good -o out --names fw.elf

# output
: >file
expect "output is a file" 4 "Output directory is no directory" convert good -o file
expect "output below a file" 4 "Cannot write into output directory" convert good -o file/out
if [ "$(id -u)" -ne 0 ]; then
	mkdir closed && chmod a-w closed
	expect "output in a closed directory" 4 "Cannot write into output directory" convert good -o closed/out
fi
expect "output in a file system without files" 4 "Cannot" convert good -o /proc/out
# Counters of coverage are files, too: there is no place for them here, and a pipe takes what libgcov says of it.
(
	ulimit -f 1
	GCOV_PREFIX=/proc/none "$FLEXTRACE" convert good -o out
	echo $? >code
) 2>&1 >stdout | cat >stderr
[ "$(cat code)" -eq 4 ] && grep -q 'Cannot write output file: path=out/.*, reason=File too large' stderr ||
	fail "output that may not grow"
[ -z "$(find out -type f)" ] || fail "output that may not grow: left something behind"

# losses
expect "losses are told" 0 "" convert lossy -o out --quiet
has out/tables/losses.csv lttng_discarded_events
expect "losses fail" 3 "Records were lost: lost=17, fail-on-loss=0" convert lossy -o out --fail-on-loss
expect "losses within the limit" 0 "" convert lossy -o out --fail-on-loss=17 --quiet
expect "losses above the limit" 3 "lost=17, fail-on-loss=16" convert lossy -o out --fail-on-loss=16

# poor, but good enough
expect "good" 0 "" convert good -o out
[ -s stdout ] || fail "good: no summary"
echo '[{"name":"a","ph":"X","ts":1,"dur":2},{"name":"b","ph":"X","ts":1}]' >events.json
expect "events" 0 "Events were rejected: file=events.json, events=1, first at byte 38: it has no duration" \
	convert events.json -o out
has out/tables/host.csv ",a,"
echo '[{"name":"a","ph":"X","ts":1,"dur":2},{"name":"b","ph":"X","ts":4611686018427387.904,"dur":2},
{"name":"c","ph":"X","ts":4611686018427387.903,"dur":1},{"name":"d","ph":"B","ts":4611686018427388},
{"name":"d","ph":"E","ts":4611686018427389}]' >late.json
expect "late events" 0 "file=late.json, events=4, first at byte 38: its time is 2^62 ns" convert late.json -o out
has out/tables/host.csv ",a,"
echo '[{"name":"a","ph":"X","ts":4611686018427388,"dur":2}]' >late.json
expect "late events only" 2 "There is no event: files=1" convert late.json -o out
expect "late events only, why" 2 "events=1, first at byte 1: its time is 2^62 ns" convert late.json -o out
expect "trace and events" 0 "Events were rejected" convert good events.json -o out --quiet
has out/tables/host.csv ",a,"
expect "quiet" 0 "" convert -q good --output-dir out
[ ! -s stdout ] || fail "quiet: not quiet"
expect "no definitions" 0 "" convert undefined -o out
has out/run.json no_definitions
has out/tables/losses.csv channel_not_created
expect "no contexts" 0 "" convert contextless -o out
has out/run.json no_contexts

# cut in every packet, in its head and in its middle
cp -r good cut
size=$(wc -c <good/channel0_1)
for cut in 1 63 64 100 4000; do
	truncate -s $((size - cut)) cut/channel0_1
	expect "cut by $cut" 0 "Stream file ends inside a packet" convert cut -o out
	has out/tables/losses.csv truncated_stream
done
expect "cut and strict" 3 "Records were lost: lost=1" convert cut -o out --fail-on-loss

# a trace that babeltrace2 2.0 dies of, by a division by zero, costs itself
case $(babeltrace2 --version 2>/dev/null) in
*" 2.0."*)
	mkdir several
	cp -r good several/whole
	cp -r good several/deadly
	sed -i 's/freq = /frey = /' several/deadly/metadata
	cp -r several/deadly deadly
	mkdir several/damaged
	head -c 2000 good/metadata >several/damaged/metadata
	before=${ASAN_OPTIONS:-}
	export ASAN_OPTIONS="detect_leaks=0:handle_sigfpe=0:handle_abort=0:handle_segv=0${before:+:$before}"
	expect "deadly" 2 "Cannot open trace: path=$PWD/deadly, reason=babeltrace2's reader dies of it" convert deadly -o out
	has stderr "A reader died; looking at each stream in a process of its own"
	expect "deadly beside whole" 0 "Cannot open trace: path=$PWD/several/deadly" convert several -o out
	has stderr "Cannot open trace: path=$PWD/several/damaged, reason=babeltrace2 cannot read its metadata"
	has out/tables/losses.csv truncated_stream,,,,5,
	[ "$(grep -c ',compute,' out/tables/host.csv)" -eq 333 ] || fail "deadly beside whole: rows are missing"
	expect "deadly and strict" 3 "Records were lost: lost=5" convert several -o out --fail-on-loss
	export ASAN_OPTIONS="$before"
	;;
esac
nested=nested$(printf '/d%.0s' $(seq 70))
mkdir -p "$nested"
expect "nested" 2 "Directories are nested too deep: limit=64" convert nested -o out

# tables that have no room in the temporary file
spare=$TMPDIR
TMPDIR=/no/such/place
expect "no directory" 4 "Cannot make a temporary file: directory=/no/such/place" convert good -o out --memory-limit 64M
TMPDIR=$spare
if unshare -m true 2>/dev/null; then
	"$MAKE_TRACE" large large
	rm -rf out
	unshare -m sh -c 'mount -t tmpfs -o size=1m tmpfs "$TMPDIR" && exec "$0" "$@"' "$FLEXTRACE" convert large -o out \
		--memory-limit 1M >stdout 2>stderr
	[ $? -eq 4 ] || fail "full directory: exit code is not 4"
	has stderr "There is no room in the temporary file: directory=$TMPDIR, reason=No space left on device"
	[ ! -e out ] || fail "full directory: left something behind"
fi

# what is printed has no room; nobody wants it
for line in "--help" "convert good -o printed" "report printed" "report printed losses" "convert --help"; do
	# shellcheck disable=SC2086 # words
	"$FLEXTRACE" $line >/dev/full 2>stderr
	[ $? -eq 4 ] || fail "$line >/dev/full: exit code is not 4"
	has stderr "flextrace: error: Cannot write standard output: reason=No space left on device"
	# shellcheck disable=SC2086 # words
	"$FLEXTRACE" $line >&- || fail "$line without standard output"
done

# a second conversion replaces the first, one that fails leaves it alone
"$FLEXTRACE" convert good -o kept --quiet && cp -r kept before
expect "kept" 2 "Cannot read trace" convert missing -o kept
diff -r kept before >/dev/null || fail "a failed conversion touched the output"

# an interrupted one leaves nothing
rm -rf out
"$FLEXTRACE" convert good -o out --quiet &
kill -TERM $! 2>/dev/null
wait $!
[ -z "$(find out "$TMPDIR" -name '*.tmp' 2>/dev/null)" ] || fail "interrupted: half-written files"

# help
for command in record start stop status convert report doctor; do
	"$FLEXTRACE" $command --help >stdout 2>stderr || fail "$command --help"
	has stdout "Usage: flextrace $command"
	"$FLEXTRACE" $command --no-such-option >stdout 2>stderr
	[ $? -eq 1 ] || fail "$command: an unknown option is no usage error"
done
"$FLEXTRACE" --help | grep -q convert || fail "--help does not list convert"

[ $n_failed -eq 0 ] || { echo "$n_failed failed" >&2; exit 1; }
echo "all good"
