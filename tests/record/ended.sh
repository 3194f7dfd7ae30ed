#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ended.sh FLEXTRACE FULL_RATE [TRIES]: a recording whose recorder is taken away at full rate ends, and is whole; what
# closes its output or sends SIGUSR2 does not take it away. Longer with TRIES.
. "$(dirname "$0")/lib.sh"
TRIES=${3:-1}
export LTTNG_UST_REGISTER_TIMEOUT=-1

# expect_accounted DIR ROWS: so many were read, or LTTng says that it lost them, or they are counted as missing.
expect_accounted() {
	n=$(rows "$1/tables/counters.csv")
	told=$(awk -F, '$4 == "unaccounted" || $4 == "lttng_discarded_events" { n += $8 } END { print n + 0 }' "$(table_of "$1" losses)")
	[ $((n + told)) -eq "$2" ] || fail "$n rows and $told told of $2 in $1"
	[ $told -gt 0 ] || grep -q '"closes":[[:space:]]*true' "$1/run.json" || fail "books of $1"
}

# Stores how many records were begun.
count() {
	"$PROGRAM" counts >counted || fail "no counts"
	read -r begun _ <counted
}

# The recorder is killed while two threads record as fast as they can: its guardian ends the session. Programs go on
# meanwhile; what they emitted until then is in the recording's own counts.
mkfifo here
killed() {
	rm -rf out counts
	"$FLEXTRACE" record -o out -- "$PROGRAM" counts 50000 wait here >died.log 2>&1 &
	victim=$!
	dd if=here bs=1 count=1 of=/dev/null 2>/dev/null
	kill -KILL $victim
	wait $victim
	nothing_left
	count
	program=$(pgrep -P 1 -x full_rate || pgrep -x full_rate)
	kill -KILL $program
	run 0 "$FLEXTRACE" convert -o result out
	n=$(rows result/tables/counters.csv)
	[ "$n" -gt 0 ] && [ "$n" -le "$begun" ] || fail "$n rows of $begun"
	missing=$(awk -F, '$4 == "unaccounted" { n += $8 } END { print n + 0 }' "$(table_of result losses)")
	[ "$missing" -le 2 ] || fail "more than one record of each thread is missing: $(cat result/tables/losses.csv)"
	rm -rf result
}

# Nobody reads what it says, but for the first line: it says one for each chunk.
unread() {
	rm -rf out counts code
	{ "$FLEXTRACE" record --rotate=1M -o out -- "$PROGRAM" counts 150000 return 2>&1; echo $? >code; } | head -1 >/dev/null
	while [ ! -s code ]; do :; done
	[ "$(cat code)" -eq 0 ] || fail "exit code $(cat code) without a reader"
	count
	expect_accounted out "$begun"
	nothing_left
}

# The signal comes all the time, from when it is first held back until the result is there.
signalled() {
	rm -rf out counts
	"$FLEXTRACE" record --flight-recorder=4M -o out -- "$PROGRAM" counts 50000 return >out.log 2>err.log &
	recorder=$!
	until awk '$1 == "SigBlk:" { exit substr($2, 14, 1) !~ /[89a-f]/ }' /proc/$recorder/status; do :; done
	while kill -USR2 $recorder 2>/dev/null; do :; done
	status=0
	wait $recorder || status=$?
	[ $status -eq 0 ] || fail "exit code $status with SIGUSR2"
	count
	[ "$begun" -ge 50000 ] || fail "the program did not run"
	for snapshot in out/snapshots/*/; do # none, where the program was faster than the first signal
		[ ! -d "$snapshot" ] || [ -f "$snapshot/run.json" ] || fail "no result in $snapshot"
	done
	nothing_left
}

i=0
while [ $i -lt "$TRIES" ]; do
	killed
	unread
	signalled
	i=$((i + 1))
done
