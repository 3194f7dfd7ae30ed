#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# registration.sh FLEXTRACE PROGRAM PROGRAMS: programs that a recording wants wait for LTTng's session daemon, and say so;
# of those that begin before it answers it is told how many records they made. So many PROGRAMS, 20 at a time.
. "$(dirname "$0")/lib.sh"
PROGRAMS=$3
unset LTTNG_UST_REGISTER_TIMEOUT

halt() {
	"$HALT" "$(daemon_of "$1")"
}
go_on() {
	kill -CONT "$(daemon_of "$1")"
}

# told DIR PROGRAM: what emitted.csv sums up of the scopes of a program: emitted, read, late, missing.
told() {
	awk -F, -v program="$2" '$4 == program && $5 == "scope" { e += $6; r += $8; l += $9; m += $10 }
		END { print e + 0, r + 0, l + 0, m + 0 }' "$1/tables/emitted.csv"
}

expect() { # DIR PROGRAM NUMBERS
	[ "$(told "$1" "$2")" = "$3" ] || fail "$2 in $1: $(told "$1" "$2") instead of $3: $(cat "$1/tables/emitted.csv")"
}

lost() {
	awk -F, -v cause="$2" '$4 == cause { n += $8 } END { print n + 0 }' "$(table_of "$1" losses)"
}

# The daemon answers only when the program has said that it waits: it records all the same.
mkfifo said
run 0 "$FLEXTRACE" start -o waits
halt waits
"$PROGRAM" scopes=1000 2>said &
exec 3<said
read -r line <&3 || fail "it did not wait"
case $line in
*"session daemon has not answered"*"recording wants this program"*) ;;
*) fail "it said: $line" ;;
esac
go_on waits
wait $! || fail "the program failed"
exec 3<&-
run 0 "$FLEXTRACE" stop waits
expect waits program "1000 1000 0 0"
nothing_left

# As many as there are, with no care for a busy machine.
run 0 "$FLEXTRACE" start -o many
i=0
while [ $i -lt "$PROGRAMS" ]; do
	j=0 pids=
	while [ $j -lt 20 ] && [ $i -lt "$PROGRAMS" ]; do
		"$PROGRAM" scopes=1000 2>>many.log &
		pids="$pids $!" i=$((i + 1)) j=$((j + 1))
	done
	# shellcheck disable=SC2086
	wait $pids
done
run 0 "$FLEXTRACE" stop many
set -- $(told many program)
[ "$1" -eq $((PROGRAMS * 1000)) ] && [ "$1" -eq $(($2 + $4)) ] && [ "$3" -eq "$4" ] || fail "many: $*"
n=$(awk -F, '$5 == "scope" && $6 == 1000' many/tables/emitted.csv | wc -l)
[ "$n" -eq "$PROGRAMS" ] || fail "$n of $PROGRAMS programs are named"
nothing_left

# Whoever may not wait is late: all its records are counted, and it is named.
run 0 "$FLEXTRACE" start -o late
halt late
LTTNG_UST_REGISTER_TIMEOUT=0 "$PROGRAM" scopes=300 2>late.log || fail "the late program failed"
says 'does not answer; records are not recorded but counted' late.log
go_on late
"$PROGRAM" scopes=5
run 3 "$FLEXTRACE" stop --fail-on-loss late
expect late program "305 5 300 300"
[ "$(lost late began_late)" -eq 300 ] || fail "began_late: $(cat late/tables/losses.csv)"
[ "$(lost late unaccounted)" -eq 0 ] || fail "unaccounted: $(cat late/tables/losses.csv)"
says '"began_late"' late/run.json
says 'began late' out.log
nothing_left

# A late one that goes on is recorded from then on.
mkfifo here go
run 0 "$FLEXTRACE" start -o later
"$PROGRAM" scopes=5
halt later
LTTNG_UST_REGISTER_TIMEOUT=0 "$PROGRAM" scopes=300 write=here read=go known scopes=70 2>late.log &
cat here >/dev/null
go_on later
: >go
wait $! || fail "the late program failed"
run 0 "$FLEXTRACE" stop later
# shellcheck disable=SC2046
set -- $(told later program)
[ "$1" -eq 375 ] && [ $(($2 + $3)) -eq 375 ] && [ "$3" -ge 300 ] && [ "$3" -eq "$4" ] || fail "later: $*"
[ "$(lost later began_late)" -eq "$3" ] || fail "began_late: $(cat later/tables/losses.csv)"
nothing_left

# A recording of nothing but late ones says so.
run 0 "$FLEXTRACE" start -o none
halt none
LTTNG_UST_REGISTER_TIMEOUT=0 "$PROGRAM" scopes=300 2>late.log || fail "the late program failed"
go_on none
run 2 "$FLEXTRACE" stop none
says '300 records of program' err.log
nothing_left

guardians() {
	pgrep -u "$(id -u)" -x flextrace-guard
}
# until_two DEAD: there are two guardians, not counting a dead one.
until_two() {
	while [ "$(guardians | grep -cvx "$1")" -ne 2 ]; do :; done
}

# A session that goes without `flextrace stop`: the guardian takes the note back, and ends. There are two of it: where one
# is killed, whichever, the other one makes another.
for way in destroy kill; do
	run 0 "$FLEXTRACE" start -o $way
	"$PROGRAM" scopes=10
	find . /var/run/lttng -name flextrace.wanted | grep -q . || fail "no note was made"
	until_two 0
	for dead in $(guardians); do
		kill -KILL "$dead"
		until_two "$dead"
	done
	if [ $way = kill ]; then
		kill -KILL "$(daemon_of kill)"
	else
		lttng --no-sessiond destroy "$(cat destroy/.flextrace-id)" >destroy.log 2>&1 || fail "cannot destroy"
	fi
	no_guardian
	[ -z "$(find . /var/run/lttng -name 'flextrace.wanted*')" ] || fail "the note of a session that is gone is left"
	run 2 "$FLEXTRACE" stop $way
	[ "$(rows $way/tables/host.csv)" -eq 10 ] || fail "not 10 rows of a session that is gone"
done
nothing_left

# Who is not wanted starts without delay, and says nothing: another program beside `record`, and where the daemon of a
# note is gone.
run 0 "$FLEXTRACE" record --no-convert -o own -- sh -c '"$1" "$(sed -n "s/^daemon \([0-9]*\) .*/\1/p" own/.flextrace-recording)" &&
	env -u FLEXTRACE_SESSION -u LTTNG_UST_REGISTER_TIMEOUT "$2" scopes=10 2>other.log
	kill -CONT "$(sed -n "s/^daemon \([0-9]*\) .*/\1/p" own/.flextrace-recording)"
	"$2" scopes=3' sh "$HALT" "$PROGRAM"
[ ! -s other.log ] || fail "a stranger said: $(cat other.log)"
expect_events own scope 3
nothing_left
[ -z "$(find . /var/run/lttng -name 'flextrace.wanted*')" ] || fail "a note is left"
