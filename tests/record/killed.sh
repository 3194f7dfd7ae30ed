#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# killed.sh FLEXTRACE FULL_RATE [TRIES [WAY...]]: programs that end in the middle of a record do not stop the recorder,
# and what they recorded is there. With TRIES, so many of each end in each WAY of recording.
. "$(dirname "$0")/lib.sh"
TRIES=${3:-1}
export LTTNG_UST_REGISTER_TIMEOUT=-1

# count FILE...: stores how many records of `counts`, or of several such, were begun and done.
count() {
	begun=0 finished=0
	for file in "${@:-counts}"; do
		"$PROGRAM" "$file" >counted || fail "no counts"
		read -r more_begun more_finished rate of_a of_b <counted
		begun=$((begun + more_begun)) finished=$((finished + more_finished))
	done
}

lost() {
	awk -F, -v cause="$2" '$4 == cause { n += $8 } END { print n + 0 }' "$(table_of "$1" losses)"
}

clean() {
	nothing_left
	left=$(find /dev/shm -type f ! -name 'lttng-ust-wait-*' ! -path '*/flextrace.[0-9]*/*')
	[ -z "$left" ] || fail "shared memory is left: $left"
}

# expect_all DIR HOLES DOUBTFUL FILE...: each record that was done is there, once, but for so many that look unfinished,
# and no more is missing than these and that many holes.
expect_all() {
	result=$1 holes=$2 doubtful=$3
	shift 3
	count "$@"
	n=$(rows "$result/tables/counters.csv") torn=$(lost "$result" torn_packets)
	[ "$n" -le "$finished" ] && [ $((n + doubtful)) -ge "$finished" ] || fail "$n rows of $finished in $result"
	[ "$torn" -ge 1 ] && [ "$torn" -le "$holes" ] || fail "$torn torn packets of $holes: $(cat "$result/tables/losses.csv")"
	[ "$(lost "$result" unaccounted)" -le $((holes + doubtful)) ] ||
		fail "more than unfinished: $(cat "$result/tables/losses.csv")"
	others=$(grep -cvE '^rank|,(torn_packets|unaccounted),' "$(table_of "$result" losses)")
	[ "$others" -eq 0 ] || fail "other losses: $(cat "$result/tables/losses.csv")"
}

# has_lapped: whether a processor's buffers may have been full once: then what was there before are old records. Half of
# a /dev/shm of 1 GiB is theirs, at most 64 MiB for each processor; a record is 24 bytes.
has_lapped() {
	room_mib=64
	while [ $((room_mib * $(nproc))) -gt 512 ]; do room_mib=$((room_mib / 2)); done
	[ $((begun * 24)) -gt $((room_mib * 1048576 * 9 / 10)) ]
}

# expect_most DIR FILE...: the first one's threads were killed anywhere. Two of them have at most one record each that they
# were in the middle of. In a torn packet of old records up to 5 more may look like that. All is there, lost by LTTng, or
# counted as missing.
expect_most() {
	result=$1
	shift
	count "$@"
	n=$(rows "$result/tables/counters.csv") missing=$(lost "$result" unaccounted) torn=$(lost "$result" torn_packets)
	dropped=$(lost "$result" lttng_discarded_events)
	allowed=2
	! has_lapped || allowed=$((2 + 5 * torn))
	[ "$missing" -le $allowed ] || fail "$missing missing, more than one record of each thread: $(cat "$result/tables/losses.csv")"
	[ $((n + dropped)) -le "$begun" ] || fail "$n rows in $result, but only $begun records"
	[ $((n + dropped + allowed)) -ge "$finished" ] || fail "$n rows and $dropped lost of $finished in $result"
	[ "$(lost "$result" truncated_stream)" -eq 0 ] || fail "a packet was not mended: $(cat "$result/tables/losses.csv")"
	awk -F, -v n_programs=$# 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ v = $at["value"] } v != int(v) || v < 0 || ++n[$at["name"], v] > n_programs { print; bad = 1 }
		END { exit bad }' "$result/tables/counters.csv" >&2 || fail "rows that nobody recorded in $result"
}

# expect_newest DIR NAMES EACH: a flight recorder has the last 1000 records of each thread of these names, which nobody
# else overwrote. What is missing
# of them is counted: by LTTng, or by a torn packet, which lacks at most EACH.
expect_newest() {
	count
	torn=$(lost "$1" torn_packets) dropped=$(lost "$1" lttng_discarded_events)
	[ "$(lost "$1" overwritten)" -gt 0 ] || fail "nothing was overwritten: $(cat "$1/tables/losses.csv")"
	missing=$(awk -F, -v a="$of_a" -v b="$of_b" -v names="$2" 'BEGIN { done["a"] = a; done["b"] = b }
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ name = $at["name"]; v = $at["value"] }
		v != int(v) || v < 0 || v > done[name] || n[name, v]++ { print > "/dev/stderr"; exit bad = 1 }
		index(names, name) && v >= done[name] - 1000 && v < done[name] { found++ }
		END { print bad ? "rows that nobody recorded" : 1000 * length(names) - found }' "$1/tables/counters.csv")
	[ "$missing" -le $((dropped + $3 * torn)) ] ||
		fail "$missing of the newest records are missing, $dropped lost, $torn packets torn"
	n=$(rows "$1/tables/counters.csv")
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
	flight-recorder) # whatever its code
		run 1 "$FLEXTRACE" record --flight-recorder -o out -- sh -c '"$@"; exit 1' sh "$PROGRAM" counts "$2" "$3"
		result=out/snapshots/end
		;;
	flight-recorder=*)
		run 1 "$FLEXTRACE" record "--${1}" -o out -- sh -c '"$@"; exit 1' sh "$PROGRAM" counts "$2" "pinned-$3"
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
	[ "$TRIES" -eq 1 ] || [ $took -le 30 ] || fail "it took $took s"
	case $1 in
	several) expect_most $result counts other ;;
	flight-recorder=*) expect_newest $result ab 4 ;;
	*) expect_most $result counts ;;
	esac
	clean
	if [ "$TRIES" -gt 1 ]; then
		echo "$1 $3: begun $begun, done $finished, read $n, missing $missing," \
			"packets torn $torn, discarded $dropped, $rate records/s of the slower thread, took $took s"
	fi
}

# n_records WAY I: each time others; of a small flight recorder more than it has room for.
n_records() {
	n=$((50000 + $2 * 7919))
	[ $(($2 % 10)) -ne 9 ] || n=3000000
	case $1 in
	flight-recorder) n=$((50000 + $2 * 7919)) ;; # that it has room for
	flight-recorder=*) n=$((n + 200000)) ;;
	esac
	echo $n
}

ways="default"
[ "$TRIES" -eq 1 ] || ways="${4:-default start crash-safe rotate flight-recorder flight-recorder=1M several}"
for way in $ways; do
	i=0 tries=$TRIES
	[ "$way" = default ] || tries=$(((TRIES + 4) / 5))
	while [ $i -lt "$tries" ]; do
		for how in kill segv abort exec _exit; do
			end_at_full_rate "$way" "$(n_records "$way" $i)" $how
		done
		i=$((i + 1))
	done
done
# Two threads of one processor would overwrite each other's.
[ "$TRIES" -gt 1 ] || [ "$(nproc)" -eq 1 ] || end_at_full_rate flight-recorder=1M 250000 kill

# In the middle of a record, all others done, in one packet.
rm -rf out
run 0 "$FLEXTRACE" record -o out -- sh -c 'for how in kill segv abort exec _exit; do
	rm -f $how
	"$0" $how 4000 hole-$how
done; true' "$PROGRAM"
expect_all out 5 0 kill segv abort exec _exit
clean

# exit() ends a program from the middle of a record (a signal handler calls it), and where no file can be opened: LTTng's
# destructors waited for ever, or aborted it. The last record of a thread of the other program may be doubtful.
rm -rf out
run 0 env ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" "$FLEXTRACE" record -o out -- \
	sh -c '"$0" hole 4000 hole-exit && exec "$0" files 4000 no-files' "$PROGRAM"
expect_all out 1 1 hole files
clean

# One alone, however it is recorded: nothing else is missing.
run_how() {
	rm -rf out counts
	run 137 "$FLEXTRACE" record "$@" -o out -- "$PROGRAM" counts 20000 hole-kill
}
run_how --crash-safe
expect_all out 1 0 counts
clean
run_how --rotate=1h
expect_all out 1 0 counts
clean
run_how --flight-recorder
expect_all out/snapshots/end 1 0 counts
clean
rm -rf out counts
run 137 "$FLEXTRACE" record --flight-recorder=1M -o out -- "$PROGRAM" counts 400000 hole-kill
expect_newest out/snapshots/end b 0
clean
rm -rf out counts
run 0 "$FLEXTRACE" start -o out
run 137 "$PROGRAM" counts 20000 hole-kill
run 0 "$FLEXTRACE" stop out
expect_all out 1 0 counts
clean

# Another program of the session loses at most what fits into the sub-buffer that was torn, and nothing else that is not
# counted, be the buffers as small as they are.
rm -rf out counts
run 0 "$FLEXTRACE" record --subbuf-size=64K --num-subbuf=4 -o out -- \
	sh -c '"$0" other 1000 hole-kill; "$0" counts 300000 return; :' "$PROGRAM"
count
"$PROGRAM" other >counted
read -r _ others _ <counted
all=$((finished + others)) n=$(rows out/tables/counters.csv) dropped=$(lost out lttng_discarded_events)
[ $((n + dropped)) -le $all ] && [ $((n + dropped + 65536 / 24)) -ge $all ] || fail "$n rows and $dropped lost of $all"
[ "$(lost out torn_packets)" -eq 1 ] || fail "not one torn packet: $(cat out/tables/losses.csv)"
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
expect_all out 1 0 counts
clean
