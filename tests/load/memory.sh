#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# memory.sh BUILD RECORDS LIMIT: with --memory-limit=LIMIT (MiB), as many records come out as the same bytes with one worker and with
# two, in LIMIT more memory than the program needs for hardly any records; and in a memory control group of that size.
. "$(dirname "$0")/../e2e/lib.sh"
export ASAN_OPTIONS="$ASAN_OPTIONS:quarantine_size_mb=1"
RECORDS=$2
LIMIT=$3
PEAK="$SOURCE/tests/load/peak.py"
scratch=$(mktemp -d -p "$BUILD") # page cache of a disk can be reclaimed, a tmpfs cannot
group=
trap 'rm -rf "$scratch"; [ -z "$group" ] || rmdir "$group"' EXIT
cd "$scratch"
export TMPDIR="$scratch"

"$BUILD/tests/bench/trace" few host 1000 2
"$BUILD/tests/bench/trace" many host "$RECORDS" 2

# converted NAME TRACE OPTION...: converts, notes the checksums of all files and the peak, in MiB.
converted() {
	name=$1
	trace=$2
	shift 2
	"$PEAK" "$name.peak" "$FLEXTRACE" convert --quiet --output-dir=out "$@" "$trace" || fail "convert $*"
	(cd out && cksum -- *) >"$name.sums"
	rm -r out
	echo $(($(cat "$name.peak") >> 20)) >"$name.peak"
	echo "$name: peak $(cat "$name.peak") MiB"
}

same() {
	cmp plain.sums "$1.sums" || { diff plain.sums "$1.sums"; fail "other bytes: $1"; }
}

converted few few
converted plain many
most=$(($(cat few.peak) + LIMIT))
[ "$(cat plain.peak)" -gt $most ] || fail "the trace fits in $most MiB: the test proves nothing"
for workers in 1 2; do
	converted limited-$workers many --workers=$workers --memory-limit="${LIMIT}M"
	same limited-$workers
	[ "$(cat limited-$workers.peak)" -le $most ] || fail "more than $most MiB"
done

# The same where the kernel insists on it, page cache and all.
# make_group: a memory control group below our own; false: no right to.
make_group() {
	file=memory.limit_in_bytes
	parent=/sys/fs/cgroup/memory$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
	grep -q ':memory:' /proc/self/cgroup || {
		file=memory.max
		parent=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
	}
	mkdir "$parent/flextrace-$$" 2>/dev/null || return 1
	group=$parent/flextrace-$$
	echo "${most}M" 2>/dev/null >"$group/$file"
}
[ "$(stat -f -c %T .)" != tmpfs ] || { echo "skipped: $scratch is in memory"; exit 77; }
make_group || { echo "skipped: no memory control group can be made"; exit 77; }
(
	sh -c 'echo $PPID' >"$group/cgroup.procs"
	converted grouped many --workers=2 --memory-limit="${LIMIT}M"
)
same grouped
