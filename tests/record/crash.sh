#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# crash.sh FLEXTRACE PROGRAM: what comes after a job that died whole: its records, or its session daemon as well.
. "$(dirname "$0")/lib.sh"
export OMPI_COMM_WORLD_RANK=0

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

# A rank of the same job goes on with its session, and ends it.
die same -o same
run 0 "$FLEXTRACE" record --no-convert -o same -- "$PROGRAM" scopes=4
expect_events same scope 14
nothing_left

# Another job does not: it ends the session, keeps what was recorded and says what to do.
die first -o shared
export PMIX_NAMESPACE=second
run 4 "$FLEXTRACE" record --no-convert -o shared -- "$PROGRAM" say=ran
says 'died while it recorded' err.log
says 'choose another directory' err.log
[ ! -s out.log ] || fail "the program ran unrecorded"
expect_events shared scope 10
nothing_left

# A session that somebody ended is not joined: the rank records beside what is kept, and says so.
die ended
lttng --no-sessiond destroy --all >/dev/null 2>&1 || fail "no session to end"
run 0 "$FLEXTRACE" record --no-convert -- "$PROGRAM" scopes=4
says 'died while it recorded' err.log
expect_events flextrace-ompi-ended scope 10
expect_events flextrace-ompi-ended-2 scope 4
nothing_left

# Nor is one whose daemon died too, as all does when the machine goes down. How much of it was written is LTTng's affair.
die crashed
daemon=$(daemon_of flextrace-ompi-crashed)
kill -KILL "$daemon"
tail --pid="$daemon" -f /dev/null
run 0 "$FLEXTRACE" record --no-convert -- "$PROGRAM" scopes=4
says 'died while it recorded' err.log
made=flextrace-ompi-crashed
[ ! -d $made-2 ] || made=$made-2
expect_events $made scope 4
nothing_left

# What runs there without a job is the user's to end, not a job's.
run 0 "$FLEXTRACE" start -o started
run 4 "$FLEXTRACE" record --no-convert -o started -- "$PROGRAM" say=ran
says 'flextrace stop' err.log
[ ! -s out.log ] || fail "the program ran unrecorded"
run 2 "$FLEXTRACE" stop started
says 'No data' err.log
nothing_left

# A record without a launcher that died alone is shown, and stopped by its directory.
unset OMPI_COMM_WORLD_RANK
"$FLEXTRACE" record --no-convert -o single -- "$PROGRAM" scopes=5 write=here-0 read=go-0 >died-0.log 2>&1 &
victim=$!
cat here-0 >/dev/null
kill -KILL $victim
wait $victim
: >go-0
run 0 "$FLEXTRACE" status
says '^recording flextrace-program.*/single/trace' out.log
run 0 "$FLEXTRACE" stop --no-convert single
expect_events single scope 5
nothing_left
