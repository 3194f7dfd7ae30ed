#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sessions.sh BUILD N: recordings in a row, N / 4 of them with a session daemon of their own each, N with one that stays: no process,
# no file, no shared memory is left behind, and the daemon that stays holds no more descriptors than after the first one.
. "$(dirname "$0")/lib.sh"
N=$2
PROGRAM="$BUILD/tests/program"
[ "$(id -u)" -eq 0 ] || { echo "skipped: needs processes and a /dev/shm of its own, which takes root"; exit 77; }
cd "$LTTNG_TEST_DIR"

# record N: recordings of a few records each.
record() {
	for i in $(seq "$1"); do
		"$FLEXTRACE" record --quiet --no-convert --subbuf-size=64K --output=out -- "$PROGRAM" scopes=10 >record.log 2>&1 ||
			{ cat record.log; fail "recording $i of $1 failed"; }
		rm -r out record.log
	done
}

daemons() { pgrep '^lttng-' || true; }
descriptors() {
	for pid in $(daemons); do
		ls "/proc/$pid/fd" 2>/dev/null
	done | wc -l
}

# By who ran here: all daemons have ended; what stays is two pages of LTTng's for each user, and the one empty file by which
# recordings take turns at the session daemon.
nothing_left() {
	[ -z "$(pgrep -x lttng-sessiond)" ] || { ps -e; fail "a daemon is left"; }
	# A recording's guardian and a daemon's helper end after it; one that stays keeps the test until its time is up.
	for pid in $(ps -e -o pid=,comm= | awk '$2 ~ /^(lttng-|flextrace|program)/ { print $1 }'); do
		tail --pid="$pid" -f /dev/null
	done
	rmdir "/dev/shm/flextrace.$(id -u)" 2>/dev/null # stays without a file: who counts what it emits makes one there
	left=$(find /dev/shm /run/lttng . -mindepth 1 ! -name 'lttng-ust-wait-*' ! -path /run/lttng/flextrace.lock)
	[ -z "$left" ] || fail "left behind: $left"
}

record $((N / 4))
nothing_left

lttng-sessiond --daemonize --no-kernel
record 1
used=$(df --output=used /dev/shm | tail -n 1)
before=$(descriptors)
record $((N - 1))
# What the last session had may be closed a little later: each look is a round trip to the daemon.
rounds=0
while [ "$(descriptors)" -gt "$before" ] || [ "$(df --output=used /dev/shm | tail -n 1)" -gt "$used" ]; do
	rounds=$((rounds + 1))
	[ $rounds -lt 1000 ] || fail "descriptors: $before, now $(descriptors); memory: $used KiB, now $(df --output=used /dev/shm | tail -n 1)"
	lttng list >/dev/null
done
echo "$((N + N / 4)) recordings, $before descriptors"
for pid in $(daemons); do
	kill "$pid" 2>/dev/null || true
done
for pid in $(daemons); do
	tail --pid="$pid" -f /dev/null
done
find /run/lttng -mindepth 1 -delete # LTTng's own, for the next daemon
nothing_left
