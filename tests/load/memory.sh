#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# memory.sh BUILD RECORDS LIMIT ROOM process|group: with --memory-limit=LIMIT (MiB), as many records come out as the same bytes in ROOM
# (MiB) more memory than the program needs for hardly any of them: with one worker and with two, as the process sees it; or with two
# in a memory control group of that size, as the kernel insists on it, page cache and all.
. "$(dirname "$0")/lib.sh"
RECORDS=$2
LIMIT=$3
ROOM=$4
scratch=$(mktemp -d -p "$BUILD") # page cache of a disk can be reclaimed, a tmpfs cannot
group=
trap 'rm -rf "$scratch"; [ -z "$group" ] || rmdir "$group"' EXIT
cd "$scratch"
export TMPDIR="$scratch"

"$BUILD/tests/bench/trace" few host 1000 2
"$BUILD/tests/bench/trace" many host "$RECORDS" 2

# converted NAME TRACE OPTION...: converts and notes the checksums of all files; the peak is in $peak_mib.
converted() {
	name=$1
	trace=$2
	shift 2
	peak "$FLEXTRACE" convert --quiet --output-dir=out "$@" "$trace" || fail "convert $*"
	(cd out && find . -type f | sort | xargs cksum) >"$name.sums"
	rm -r out
	echo "$name: peak $peak_mib MiB"
}

same() {
	cmp plain.sums "$1.sums" || { diff plain.sums "$1.sums"; fail "other bytes: $1"; }
}

converted few few
most=$((peak_mib + ROOM))
converted plain many
[ "$peak_mib" -gt $most ] || fail "the trace fits in $most MiB: the test proves nothing"
in_process() {
	for workers in 1 2; do
		converted limited-$workers many --workers=$workers --memory-limit="${LIMIT}M"
		same limited-$workers
		[ "$peak_mib" -le $most ] || fail "more than $most MiB"
	done
}

# make_group: below our own; false: no right to.
make_group() {
	file=memory.max
	parent=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
	if grep -q ':memory:' /proc/self/cgroup; then
		file=memory.limit_in_bytes
		parent=/sys/fs/cgroup/memory$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
	fi
	mkdir "$parent/flextrace-$$" 2>/dev/null || return 1
	group=$parent/flextrace-$$
	[ -w "$group/$file" ] && echo "${most}M" 2>/dev/null >"$group/$file"
}

in_group() {
	[ "$(stat -f -c %T .)" != tmpfs ] || { echo "skipped: $scratch is in memory"; exit 77; }
	make_group || { echo "skipped: no memory control group can be made"; exit 77; }
	(
		sh -c 'echo $PPID' >"$group/cgroup.procs"
		converted grouped many --workers=2 --memory-limit="${LIMIT}M"
	)
	same grouped
}

"in_$5"
