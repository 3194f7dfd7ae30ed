#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# crash.sh FLEXTRACE PROGRAM: what comes after a job that died whole: its records, or its session daemon as well.
. "$(dirname "$0")/lib.sh"
export OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=2

# die JOB OPTION...: two ranks of a job record 5 scopes each, then their records are killed.
mkfifo here-0 go-0 here-1 go-1
die() {
	export PMIX_NAMESPACE=$1
	shift
	"$FLEXTRACE" record --no-convert "$@" -- "$PROGRAM" scopes=5 write=here-0 read=go-0 >died-0.log 2>&1 &
	first=$!
	cat here-0 >/dev/null
	"$FLEXTRACE" record --no-convert "$@" -- "$PROGRAM" scopes=5 write=here-1 read=go-1 >died-1.log 2>&1 &
	second=$!
	cat here-1 >/dev/null
	kill -KILL $first $second
	wait $first $second
	: >go-0
	: >go-1
}

# Their guardian ends the session, so that nobody else is recorded into it. What was recorded is kept and converts.
die same -o same
nothing_left
expect_events same scope 10
run 0 "$FLEXTRACE" convert -o same-out same
[ "$(rows same-out/tables/host.csv)" -eq 10 ] || fail "$(rows same-out/tables/host.csv) rows of 10"

# Nobody records over it, not even a rank of the same job; where the name is ours, it goes beside.
run 4 "$FLEXTRACE" record --no-convert -o same -- "$PROGRAM" say=ran
says 'choose another directory' err.log
[ ! -s out.log ] || fail "the program ran unrecorded"
die beside
nothing_left
run 0 "$FLEXTRACE" record --no-convert -- "$PROGRAM" scopes=4
expect_events flextrace-ompi-beside scope 10
expect_events flextrace-ompi-beside-2 scope 4
nothing_left

# One that lives goes on with the session.
export PMIX_NAMESPACE=lives
"$FLEXTRACE" record --no-convert -o lives -- "$PROGRAM" scopes=5 write=here-0 read=go-0 >died-0.log 2>&1 &
first=$!
cat here-0 >/dev/null
"$FLEXTRACE" record --no-convert -o lives -- "$PROGRAM" scopes=5 write=here-1 read=go-1 scopes=2 >died-1.log 2>&1 &
second=$!
cat here-1 >/dev/null
kill -KILL $first
wait $first
: >go-0
: >go-1
wait $second || fail "the other rank failed"
expect_events lives scope 12
nothing_left

# What runs there without a job is the user's to end, not a job's.
run 0 "$FLEXTRACE" start -o started
run 4 "$FLEXTRACE" record --no-convert -o started -- "$PROGRAM" say=ran
says 'flextrace stop' err.log
[ ! -s out.log ] || fail "the program ran unrecorded"
run 2 "$FLEXTRACE" stop started
says 'No data' err.log
nothing_left

# A record without a launcher that died alone.
unset OMPI_COMM_WORLD_RANK
"$FLEXTRACE" record -o single -- "$PROGRAM" scopes=5 write=here-0 read=go-0 >died-0.log 2>&1 &
victim=$!
cat here-0 >/dev/null
kill -KILL $victim
wait $victim
: >go-0
nothing_left
expect_events single scope 5
[ ! -e single/run.json ] || fail "nobody asked for a conversion"

# One that was asked to end before it was killed, by a launcher that has no patience: it is converted as well.
"$FLEXTRACE" record -o asked -- "$PROGRAM" scopes=5 write=here-0 await write=here-1 read=go-0 >died-0.log 2>&1 &
victim=$!
cat here-0 >/dev/null
kill -TERM $victim
cat here-1 >/dev/null
kill -KILL $victim
wait $victim
: >go-0
nothing_left
[ "$(rows asked/tables/host.csv)" -eq 5 ] || fail "$(rows asked/tables/host.csv) rows of 5"

# A reader that goes away, and SIGUSR2 before the program runs, do not end it.
{ "$FLEXTRACE" record -o reader -- "$PROGRAM" scopes=5 write=here-0 read=go-0 2>&1; echo $? >code; } | head -c 0 &
pipeline=$!
cat here-0 >/dev/null
: >go-0
wait $pipeline
while [ ! -s code ]; do :; done
[ "$(cat code)" -eq 0 ] || fail "exit code $(cat code) without a reader"
[ "$(rows reader/tables/host.csv)" -eq 5 ] || fail "$(rows reader/tables/host.csv) rows of 5"
nothing_left

# guardians: their pids.
guardians() {
	pgrep -u "$(id -u)" -x flextrace-guard
}

# kill_guardian LOG: it is killed, and another one is there.
kill_guardian() {
	dead=$(guardians)
	kill -KILL "$dead"
	until grep -q 'the guardian was killed, there is another one' "$1"; do :; done
	until guardians | grep -qvx "$dead"; do :; done
}

# Its guardian is killed: another one takes its place, and ends the session if the recorder is killed next.
# lose_guardian DIR: a program records there, whose first guardian is dead.
lose_guardian() {
	"$FLEXTRACE" record -o "$1" -- "$PROGRAM" scopes=5 write=here-0 read=go-0 scopes=2 >out.log 2>died-0.log &
	recorder=$!
	cat here-0 >/dev/null
	kill_guardian died-0.log
}
lose_guardian unguarded
: >go-0
wait $recorder || fail "it failed without its guardian: $(cat died-0.log)"
[ "$(rows unguarded/tables/host.csv)" -eq 7 ] || fail "$(rows unguarded/tables/host.csv) rows of 7"
nothing_left
lose_guardian replaced
kill -KILL $recorder
wait $recorder
nothing_left
: >go-0
expect_events replaced scope 5

# One that was asked to end tells the new guardian, which converts.
"$FLEXTRACE" record -o told -- "$PROGRAM" scopes=5 write=here-0 await write=here-1 read=go-0 >out.log 2>died-0.log &
victim=$!
cat here-0 >/dev/null
kill -TERM $victim
cat here-1 >/dev/null
kill_guardian died-0.log
kill -KILL $victim
wait $victim
: >go-0
nothing_left
[ "$(rows told/tables/host.csv)" -eq 5 ] || fail "$(rows told/tables/host.csv) rows of 5"

# Both are killed: `flextrace stop` ends the session.
"$FLEXTRACE" record -o orphaned -- "$PROGRAM" scopes=5 write=here-0 read=go-0 scopes=2 >died-0.log 2>&1 &
recorder=$!
cat here-0 >/dev/null
"$HALT" $recorder
kill -KILL "$(guardians)"
kill -KILL $recorder
wait $recorder
no_guardian
: >go-0
run 0 "$FLEXTRACE" stop orphaned
n=$(rows orphaned/tables/host.csv)
[ "$n" -ge 5 ] || fail "$n rows of the 5 before"
nothing_left

# SIGUSR2 comes while the loader is still at it, which here waits for somebody to read what it says: nothing has begun.
mkfifo loading
LD_DEBUG=all "$FLEXTRACE" record --flight-recorder -o unloaded -- "$PROGRAM" say=ran >out.log 2>loading &
recorder=$!
exec 3<loading
read -r _ <&3
kill -USR2 $recorder
status=0
wait $recorder || status=$?
exec 3<&-
[ $status -gt 128 ] && [ "$(kill -l $((status - 128)))" = USR2 ] || fail "exit code $status of one that was not loaded"
[ ! -s out.log ] && [ ! -e unloaded ] || fail "something has begun"
nothing_left
