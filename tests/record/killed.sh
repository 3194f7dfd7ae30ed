#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# killed.sh FLEXTRACE FULL_RATE [TRIES]: programs that end in the middle of a record do not stop the recorder, and what
# they recorded is there. Longer with TRIES.
. "$(dirname "$0")/lib.sh"
TRIES=${3:-1}
export LTTNG_UST_REGISTER_TIMEOUT=-1

# count: stores how many records of `counts` were begun and done.
count() {
	"$PROGRAM" counts >counted || fail "no counts"
	read -r begun finished <counted
}

lost() {
	awk -F, -v cause="$2" '$4 == cause { n += $8 } END { print n + 0 }' "$1/losses.csv"
}

clean() {
	nothing_left
	left=$(find /dev/shm -type f ! -name 'lttng-ust-wait-*' ! -path '*/flextrace.[0-9]*/*')
	[ -z "$left" ] || fail "shared memory is left: $left"
}

# expect_all DIR TORN: each record that was done is there, once, and so many packets were torn.
expect_all() {
	count
	[ "$(rows "$1/counters.csv")" -eq "$finished" ] || fail "$(rows "$1/counters.csv") rows of $finished in $1"
	[ "$(lost "$1" torn_packets)" -eq "$2" ] || fail "not $2 torn packets: $(cat "$1/losses.csv")"
	[ "$(lost "$1" unaccounted)" -le 1 ] || fail "more than the unfinished record: $(cat "$1/losses.csv")"
	others=$(grep -cvE '^rank|,(torn_packets|unaccounted),' "$1/losses.csv")
	[ "$others" -eq 0 ] || fail "other losses: $(cat "$1/losses.csv")"
}

# expect_most DIR: where threads were killed anywhere: what stands behind a hole may be missing, nothing else.
expect_most() {
	count
	n=$(rows "$1/counters.csv")
	[ "$n" -le "$begun" ] || fail "$n rows in $1, but only $begun records"
	[ "$(lost "$1" unaccounted)" -le 2 ] || [ "$(lost "$1" torn_packets)" -gt 0 ] ||
		fail "more than one record of each thread is missing: $(cat "$1/losses.csv")"
	[ "$n" -ge "$finished" ] || [ "$(lost "$1" torn_packets)" -gt 0 ] ||
		fail "$n rows of $finished in $1, and nothing is torn: $(cat "$1/losses.csv")"
	[ "$(lost "$1" truncated_stream)" -eq 0 ] || fail "a packet was not mended: $(cat "$1/losses.csv")"
	[ "$n" -gt 0 ] || fail "nothing in $1"
}

code_of() {
	case $1 in
	*kill) echo 137 ;;
	*segv) echo 139 ;;
	*abort) echo 134 ;;
	*) echo 0 ;;
	esac
}

# While two threads record as fast as they can.
i=0
while [ $i -lt "$TRIES" ]; do
	for how in kill segv abort exec _exit; do
		rm -rf out counts
		run "$(code_of $how)" "$FLEXTRACE" record -o out -- "$PROGRAM" counts $((50000 + i * 7919)) $how
		expect_most out
		clean
	done
	i=$((i + 1))
done

# In the middle of a record, all others done: nothing else is missing.
for how in kill segv abort exec _exit; do
	rm -rf out counts
	run "$(code_of $how)" "$FLEXTRACE" record -o out -- "$PROGRAM" counts 20000 hole-$how
	expect_all out 1
	clean
done

# However it is recorded.
run_how() {
	rm -rf out counts
	run 137 "$FLEXTRACE" record "$@" -o out -- "$PROGRAM" counts 20000 hole-kill
}
run_how --crash-safe
expect_all out 1
clean
run_how --rotate=1h
expect_all out 1
clean
run_how --flight-recorder
expect_all out/snapshots/end 1
clean
rm -rf out counts
run 0 "$FLEXTRACE" start -o out
run 137 "$PROGRAM" counts 20000 hole-kill
run 0 "$FLEXTRACE" stop out
expect_all out 1
clean

# Another program of the session loses at most what fits into the sub-buffer that was torn, and nothing else that is not
# counted, be the buffers as small as they are.
rm -rf out counts
run 0 "$FLEXTRACE" record --subbuf-size=64K --num-subbuf=4 -o out -- \
	sh -c '"$0" other 1000 hole-kill; "$0" counts 300000 return; :' "$PROGRAM"
count
"$PROGRAM" other >counted
read -r _ others <counted
all=$((finished + others)) n=$(rows out/counters.csv) dropped=$(lost out lttng_discarded_events)
[ $((n + dropped)) -le $all ] && [ $((n + dropped + 65536 / 24)) -ge $all ] || fail "$n rows and $dropped lost of $all"
[ "$(lost out torn_packets)" -eq 1 ] || fail "not one torn packet: $(cat out/losses.csv)"
clean

# A program that is stopped in the middle of a record does not stop `stop`.
rm -rf out counts
run 0 "$FLEXTRACE" start -o out
"$PROGRAM" counts 20000 hole-stop &
program=$!
until grep -q "^State:.T" /proc/$program/status; do :; done
run 0 "$FLEXTRACE" stop out
kill -CONT $program
wait $program
expect_all out 1
clean
