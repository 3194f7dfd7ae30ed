#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# killed.sh FLEXTRACE FULL_RATE [TRIES]: programs that end in the middle of a record do not stop the recorder, and what
# they recorded is there. Longer with TRIES.
. "$(dirname "$0")/lib.sh"
TRIES=${3:-1}
export LTTNG_UST_REGISTER_TIMEOUT=-1

# count FILE...: stores how many records of `counts`, or of several such, were begun and done.
count() {
	begun=0 finished=0
	for file in "${@:-counts}"; do
		"$PROGRAM" "$file" >counted || fail "no counts"
		read -r more_begun more_finished <counted
		begun=$((begun + more_begun)) finished=$((finished + more_finished))
	done
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

# expect_most DIR FILE...: where threads were killed anywhere. Two of them have at most one record each that they were in
# the middle of; in torn packets one more of each may look like that. All is there, lost by LTTng, or counted as missing.
expect_most() {
	result=$1
	shift
	count "$@"
	n=$(rows "$result/counters.csv") missing=$(lost "$result" unaccounted) torn=$(lost "$result" torn_packets)
	dropped=$(lost "$result" lttng_discarded_events)
	allowed=$((torn > 0 ? 2 + 2 * $# : 2))
	[ "$missing" -le $allowed ] || fail "more than one record of each thread is missing: $(cat "$result/losses.csv")"
	[ $((n + dropped)) -le "$begun" ] || fail "$n rows in $result, but only $begun records"
	[ $((n + dropped + allowed)) -ge "$finished" ] || fail "$n rows and $dropped lost of $finished in $result"
	[ "$(lost "$result" truncated_stream)" -eq 0 ] || fail "a packet was not mended: $(cat "$result/losses.csv")"
	# Each thread records 0, 1, 2...
	awk -F, -v n_threads=$((2 * $#)) 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ v = $at["value"] } v != int(v) || v < 0 || ++n[v] > n_threads { print; bad = 1 }
		END { exit bad }' "$result/counters.csv" >&2 || fail "rows that nobody recorded in $result"
}

code_of() {
	case $1 in
	*kill) echo 137 ;;
	*segv) echo 139 ;;
	*abort) echo 134 ;;
	*) echo 0 ;;
	esac
}

# end_at_full_rate WAY N HOW: two threads record as fast as they can, N records in all, and their program ends.
end_at_full_rate() {
	rm -rf out counts
	result=out began=$(date +%s)
	case $1 in
	default) run "$(code_of "$3")" "$FLEXTRACE" record -o out -- "$PROGRAM" counts "$2" "$3" ;;
	crash-safe) run "$(code_of "$3")" "$FLEXTRACE" record --crash-safe -o out -- "$PROGRAM" counts "$2" "$3" ;;
	rotate) run "$(code_of "$3")" "$FLEXTRACE" record --rotate=1M -o out -- "$PROGRAM" counts "$2" "$3" ;;
	flight) # whatever its code
		run 1 "$FLEXTRACE" record --flight-recorder -o out -- sh -c '"$@"; exit 1' sh "$PROGRAM" counts "$2" "$3"
		result=out/snapshots/end
		;;
	start)
		run 0 "$FLEXTRACE" start -o out
		run "$(code_of "$3")" "$PROGRAM" counts "$2" "$3"
		run 0 "$FLEXTRACE" stop out
		;;
	several) # beside one that ends well
		rm -f other
		run 0 "$FLEXTRACE" record -o out -- \
			sh -c '"$0" other 50000 return & "$0" counts "$@"; wait' "$PROGRAM" "$2" "$3"
		;;
	esac
	took=$(($(date +%s) - began))
	if [ "$1" = several ]; then expect_most $result counts other; else expect_most $result counts; fi
	clean
	if [ "$TRIES" -gt 1 ]; then
		echo "$1 $3: begun $begun, done $finished, read $n, unaccounted $missing," \
			"packets torn $torn, discarded $dropped, took $took s"
	fi
}

ways="default start"
[ "$TRIES" -eq 1 ] || ways="default crash-safe rotate flight start several"
for way in $ways; do
	i=0 tries=$TRIES
	[ "$way" = default ] || tries=$(((TRIES + 4) / 5))
	while [ $i -lt "$tries" ]; do
		for how in kill segv abort exec _exit; do
			end_at_full_rate "$way" $((50000 + i * 7919)) $how
		done
		i=$((i + 1))
	done
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
