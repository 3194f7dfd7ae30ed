#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# own.sh FLEXTRACE PROGRAM TERMINAL: a recording knows itself: recordings at once, each with its own programs.
. "$(dirname "$0")/lib.sh"
mkfifo go-1 go-2 here-1 here-2
export LTTNG_UST_REGISTER_TIMEOUT=-1

# expect_rows DIR COUNT: of intervals of programs.
expect_rows() {
	n=$(rows "$1/tables/host.csv")
	[ "$n" -eq "$2" ] || fail "$n rows in $1/tables/host.csv, not $2"
}

# LTTng records each program into each session: of `start` and of two programs, and one of nobody's.
run 0 "$FLEXTRACE" start -o all
"$FLEXTRACE" record -o one -- "$PROGRAM" write=here-1 read=go-1 scopes=11 >one.log 2>&1 &
one=$!
"$FLEXTRACE" record -o two -- "$PROGRAM" write=here-2 read=go-2 scopes=12 >two.log 2>&1 &
two=$!
cat here-1 here-2 >/dev/null
"$PROGRAM" scopes=13
: >go-1
wait $one || fail "the first recording failed"
: >go-2
wait $two || fail "the second recording failed"
run 0 "$FLEXTRACE" stop all
expect_events one scope 24
expect_events two scope 36
expect_events all scope 36

# As `record` and `stop` convert it, and as `convert` does, one or all: those of others are counted and told.
expect_rows one 11
expect_rows two 12
expect_rows all 13
for dir in one two all; do
	run 0 "$FLEXTRACE" convert -o again "$dir"
	says 'other_recording' out.log
	cmp again/tables/host.csv $dir/tables/host.csv || fail "convert differs from what $dir has"
	run 0 "$FLEXTRACE" convert -o again "$dir/trace"
	cmp again/tables/host.csv $dir/tables/host.csv || fail "convert of the trace differs from what $dir has"
	rm -r again
done
run 0 "$FLEXTRACE" convert -o both one two
expect_rows both 23
run 0 "$FLEXTRACE" convert -o three one two all
expect_rows three 36
# A recording that is named twice, or is a copy, is one: its packets are read once, and its books close.
cp -r one copy
run 0 "$FLEXTRACE" convert --fail-on-loss -o same one copy one/trace
expect_rows same 11
run 0 "$FLEXTRACE" convert -o every --session=all two
expect_rows every 36
nothing_left

# Nobody but its own, too, where somebody else ends it: a stranger was recorded after its recorder and guardian died.
"$FLEXTRACE" record -o dead -- "$PROGRAM" write=here-1 read=go-1 scopes=5 >dead.log 2>&1 &
dead=$!
cat here-1 >/dev/null
guardian=$(pgrep -u "$(id -u)" -x flextrace-guard)
kill -STOP "$guardian" # or it ends the recording between the two kills
kill -KILL $dead "$guardian"
wait $dead
"$PROGRAM" scopes=7
: >go-1
while pgrep -u "$(id -u)" -x program >/dev/null; do :; done
run 0 "$FLEXTRACE" stop dead
expect_events dead scope 12
expect_rows dead 5
nothing_left

# A process in several recordings is one, and what two of them have of it is shown once: 4 in the first, 5 in both, 6
# in the second, alike but for their times.
"$PROGRAM" write=here-1 read=go-1 scopes=4 write=here-1 read=go-1 scopes=5 write=here-1 read=go-1 scopes=6 &
program=$!
cat here-1 >/dev/null
run 0 "$FLEXTRACE" start -o begin
: >go-1
cat here-1 >/dev/null
run 0 "$FLEXTRACE" start -o end
: >go-1
cat here-1 >/dev/null
run 0 "$FLEXTRACE" stop begin
: >go-1
wait $program
run 0 "$FLEXTRACE" stop end
expect_rows begin 9
expect_rows end 11
run 0 "$FLEXTRACE" convert --fail-on-loss -o whole begin end
expect_rows whole 15
says 'same_process (1)' out.log
[ "$(cut -d, -f3 whole/tables/host.csv | sort -u | grep -c '[0-9]')" -eq 1 ] || fail "not one process"
nothing_left

# The id stays with it; what others recorded below it is theirs, and told.
grep -q '^flextrace-program-[0-9]*-[0-9]*-[0-9]*$' one/.flextrace-id || fail "no id"
run 0 "$FLEXTRACE" record -o one/inner -- "$PROGRAM" scopes=3
run 0 "$FLEXTRACE" convert -o outer one
says 'left out: 1 other recordings below.*one/inner$' err.log
expect_rows outer 11
