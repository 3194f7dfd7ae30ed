#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# emitted.sh FLEXTRACE PROGRAM FULL_RATE FORKS PROVIDER: what programs emitted into a recording, as they counted it, against what was read,
# however it is recorded: emitted.csv has a line for each program and class, and nothing is missing that is not told.
. "$(dirname "$0")/lib.sh"
FULL_RATE=$3 FORKS=$4 PLAIN_PROVIDER=$5
export LTTNG_UST_REGISTER_TIMEOUT=-1

# told DIR PROGRAM CLASS: emitted, read, late and missing.
told() {
	awk -F, -v program="$2" -v class="$3" '$4 == program && $5 == class { e += $6; r += $8; l += $9; m += $10 }
		END { print e + 0, r + 0, l + 0, m + 0 }' "$1/tables/emitted.csv"
}

expect() { # DIR PROGRAM CLASS NUMBERS
	[ "$(told "$1" "$2" "$3")" = "$4" ] || fail "$2, $3 in $1: $(told "$1" "$2" "$3") instead of $4: $(cat "$1/tables/emitted.csv")"
}

# programs DIR COUNT: so many are listed.
programs() {
	n=$(awk -F, 'NR > 1 { print $3 }' "$1/tables/emitted.csv" | sort -u | wc -l)
	[ "$n" -eq "$2" ] || fail "$n programs in $1, not $2: $(cat "$1/tables/emitted.csv")"
}

lost() {
	awk -F, -v cause="$2" '$4 == cause { n += $8 } END { print n + 0 }' "$(table_of "$1" losses)"
}

# closed DIR: nothing is unaccounted.
closed() {
	[ "$(lost "$1" unaccounted)" -eq 0 ] || fail "unaccounted in $1: $(cat "$1/tables/losses.csv" "$1/tables/emitted.csv")"
	says '"closes":[[:space:]]*true' "$1/run.json"
}

# Two at once, the second begins and ends in the middle of the first: each has what was emitted in it, of its own programs.
mkfifo here-1 go-1 here-2 go-2
run 0 "$FLEXTRACE" start -o outer
"$PROGRAM" scopes=100 write=here-1 read=go-1 scopes=50 write=here-2 read=go-2 scopes=30 2>one.log &
one=$!
cat here-1 >/dev/null
run 0 "$FLEXTRACE" start -o inner
: >go-1
cat here-2 >/dev/null
run 0 "$FLEXTRACE" record -o command -- "$PROGRAM" scopes=7
run 0 "$FLEXTRACE" record -o strangers -- "$FULL_RATE" counts 20000 return
run 0 "$FLEXTRACE" stop --fail-on-loss inner
: >go-2
wait $one || fail "the program failed: $(cat one.log)"
run 0 "$FLEXTRACE" stop --fail-on-loss outer
expect outer program scope "180 180 0 0"
expect inner program scope "50 50 0 0"
expect command program scope "7 7 0 0"
for dir in outer inner command strangers; do
	programs $dir 1
	closed $dir
done
says 'were read, 0 are missing' out.log
nothing_left

# One process of several, and what it has emitted before.
"$PROGRAM" scopes=10 write=here-1 read=go-1 scopes=20 2>one.log &
one=$!
cat here-1 >/dev/null
"$FLEXTRACE" start -o other >other.log 2>&1
"$FLEXTRACE" record --pid=$one -o single >single.log 2>&1 &
recorder=$!
until grep -q 'until it ends or Ctrl-C' single.log; do :; done
lttng --no-sessiond list --userspace >/dev/null # who answers has recorded its definitions
"$PROGRAM" scopes=1000
: >go-1
wait $one
kill -INT $recorder
wait $recorder
run 0 "$FLEXTRACE" stop other
expect single program scope "20 20 0 0"
expect other program scope "1020 1020 0 0"
programs single 1
closed single
closed other
nothing_left

# What is killed in the middle of a record is missing in its own recording, and not in one that runs beside it.
rm -f counts
run 0 "$FLEXTRACE" start -o beside
"$PROGRAM" scopes=9
run 137 "$FLEXTRACE" record -o hole -- "$FULL_RATE" counts 20000 hole-kill
run 0 "$FLEXTRACE" stop beside
closed beside
expect beside program scope "9 9 0 0"
[ "$(lost hole unaccounted)" -eq 1 ] || fail "hole: $(cat hole/tables/losses.csv)"
says '"closes":[[:space:]]*false' hole/run.json
nothing_left

# Buffers that are too small: missing = discarded, by LTTng's own count, in each channel.
rm -f counts
run 0 "$FLEXTRACE" record --subbuf-size=4K --num-subbuf=2 -o small -- "$FULL_RATE" counts 100000 return
closed small
missing=$(told small full_rate counter | cut -d' ' -f4)
[ "$missing" -eq "$(lost small lttng_discarded_events)" ] || fail "$missing missing: $(cat small/tables/losses.csv)"
nothing_left

# A flight recorder: a snapshot has what was emitted until then, and what was overwritten is no failure.
run 0 "$FLEXTRACE" start --flight-recorder=8M -o flight
"$PROGRAM" scopes=300 write=here-1 read=go-1 scopes=70 write=here-2 read=go-2 2>one.log &
one=$!
cat here-1 >/dev/null
run 0 "$FLEXTRACE" snapshot flight
: >go-1
cat here-2 >/dev/null
run 0 "$FLEXTRACE" snapshot flight
expect flight/snapshots/1 program scope "300 300 0 0"
expect flight/snapshots/2 program scope "370 370 0 0"
rm -f counts
"$FULL_RATE" counts 400000 return || fail "the program failed"
run 0 "$FLEXTRACE" snapshot flight
[ "$(told flight/snapshots/3 full_rate counter | cut -d' ' -f1)" -eq "$("$FULL_RATE" counts | cut -d' ' -f2)" ] ||
	fail "flight: $(cat flight/snapshots/3/tables/emitted.csv)"
[ "$(told flight/snapshots/3 full_rate counter | cut -d' ' -f4)" -gt 0 ] || fail "nothing was overwritten"
for i in 1 2 3; do
	closed flight/snapshots/$i
done
: >go-2
wait $one
run 0 "$FLEXTRACE" stop flight
closed flight/snapshots/end
nothing_left

# Rotation: each chunk, and the whole.
mkfifo told
cpu=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
"$FLEXTRACE" record --rotate=64K --subbuf-size=4K --num-subbuf=64 -o chunks -- taskset -c "$cpu" "$PROGRAM" scopes=1550 \
	write=here-1 read=go-1 scopes=1550 write=here-1 read=go-1 scopes=100 2>told >out.log &
recorder=$!
exec 3<told
for chunk in 0 1; do
	cat here-1 >/dev/null
	line=
	until echo "$line" | grep -q "chunk $chunk:"; do
		hear
		[ -n "$line" ] || fail "no chunk $chunk"
	done
	: >go-1
done
cat <&3 >rest.log
exec 3<&-
wait $recorder || fail "record failed"
closed chunks
expect chunks program scope "3200 3200 0 0"
least=0 read=0 most=0
for chunk in chunks/chunks/0 chunks/chunks/1 chunks/chunks/2; do
	closed $chunk
	# shellcheck disable=SC2046
	set -- $(awk -F, '$4 == "program" && $5 == "scope" { print $6, $7, $8 }' $chunk/tables/emitted.csv)
	[ $# -eq 3 ] && [ "$1" -le "$3" ] && [ "$2" -ge "$3" ] || fail "$chunk: $(cat $chunk/tables/emitted.csv)"
	least=$((least + $1)) most=$((most + $2)) read=$((read + $3))
done
[ $read -eq 3200 ] && [ $least -le 3200 ] && [ $most -ge 3200 ] || fail "chunks: $least to $most emitted, $read read"
[ -z "$(find chunks -maxdepth 1 -name '.flextrace-emitted-*')" ] || fail "notes of chunks are left"
nothing_left

# What children could not record is told, with the program that forked them, and what they made while no daemon was in reach.
# unrecorded DIR COUNT
unrecorded() {
	n=$(awk '/"unrecorded":/ { gsub(/[^0-9]/, ""); n += $0 } END { print n + 0 }' "$1/run.json")
	[ "$n" -eq "$2" ] || fail "$n instead of $2 unrecorded in $1: $(cat err.log)"
}
own_provider=$FLEXTRACE_PROVIDER FLEXTRACE_PROVIDER=$PLAIN_PROVIDER
run 0 "$FLEXTRACE" record -o left -- "$FORKS" exits
says '^60 left out' out.log
says '60 more could not be made' err.log
says 'unrecorded (60)' err.log
unrecorded left 60
closed left
run 0 "$FLEXTRACE" record -o no-files -- "$FORKS" no-files
unrecorded no-files 20
run 0 "$FLEXTRACE" record -o no-memory -- "$FORKS" no-memory
unrecorded no-memory 20
run_dir=$LTTNG_HOME/.lttng
[ "$(id -u)" -ne 0 ] || run_dir=/run/lttng
run 0 "$FLEXTRACE" record -o unreachable -- "$FORKS" unreachable "$run_dir/lttng-ust-sock-8"
[ "$(lost unreachable began_late)" -eq 20 ] || fail "out of reach: $(cat unreachable/tables/losses.csv)"
closed unreachable
nothing_left

FLEXTRACE_PROVIDER=$own_provider
# Counts of a program that lives in another pid namespace stay: its number is nobody's here.
if unshare -p true 2>/dev/null; then
	run 0 "$FLEXTRACE" start -o first
	# LeakSanitizer does not find its threads in the /proc of the parent.
	# shellcheck disable=SC2016
	ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}" unshare -pf sh -c 'echo 30000 >/proc/sys/kernel/ns_last_pid; "$@" & wait $!' sh \
		"$PROGRAM" scopes=10 write=here-1 read=go-1 scopes=20 2>one.log &
	one=$!
	cat here-1 >/dev/null
	run 0 "$FLEXTRACE" stop first
	run 0 "$FLEXTRACE" start -o second
	: >go-1
	wait $one || fail "the program failed: $(cat one.log)"
	run 0 "$FLEXTRACE" stop --fail-on-loss second
	expect second program scope "20 20 0 0"
	closed second
	nothing_left
fi
