#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# running.sh FLEXTRACE PROGRAM TERMINAL: programs that already run, and recordings that outlive their command.
. "$(dirname "$0")/lib.sh"
needs_terminal

# A recording that outlives its command; it starts a daemon and stops it again.
run 0 "$FLEXTRACE" status
says 'no recording runs' out.log
run 0 "$FLEXTRACE" start -o started
run 0 "$FLEXTRACE" status
says 'recording flextrace-start-.*started/trace' out.log
LTTNG_UST_REGISTER_TIMEOUT=-1 "$PROGRAM" scopes=9
run 0 "$FLEXTRACE" stop --no-convert
expect_events started scope 9
nothing_left
run 2 "$FLEXTRACE" stop
says 'No recording runs' err.log
run 2 "$FLEXTRACE" stop started
run 1 "$FLEXTRACE" stop started other

# The state names a daemon to stop: nobody else may tell us which.
if [ "$(id -u)" -eq 0 ]; then
	mkdir foreign
	printf 'session flextrace-start-x\ndaemon 1 1\nmade 0\n' >foreign/.flextrace-recording
	chown 65534 foreign/.flextrace-recording
	run 2 "$FLEXTRACE" stop foreign
	says 'belongs to another user' err.log
fi

lttng-sessiond --daemonize --no-kernel >daemon.log 2>&1 || fail "cannot start a daemon"
export LTTNG_UST_REGISTER_TIMEOUT=-1
mkfifo here go here-2 go-2 told

# Two at once must be told apart.
run 0 "$FLEXTRACE" start -o one
run 0 "$FLEXTRACE" start -o two
run 1 "$FLEXTRACE" stop
says 'Several' err.log
run 2 "$FLEXTRACE" stop one
run 2 "$FLEXTRACE" stop two
says 'No data' err.log
[ ! -e one ] && [ ! -e two ] || fail "empty recordings are left"

# All that runs, until a signal: definitions are there although they were made before.
"$PROGRAM" write=here read=go scopes=10 write=here &
program=$!
cat here >/dev/null
"$FLEXTRACE" record --no-convert -o all 2>told >out.log &
record=$!
exec 3<told
hear
echo "$line" | grep -q 'until Ctrl-C' || fail "record says: $line"
lttng --no-sessiond list --userspace >/dev/null # who answers has recorded its definitions
run 2 "$FLEXTRACE" stop
says 'No such recording of `flextrace start` runs; `flextrace status` lists others' err.log
# Who records ends it, and is not to take that for a daemon that died.
run 2 "$FLEXTRACE" stop all
says 'to end it now, interrupt that: path=.*/all$' err.log
# Nor does a job join it.
run 4 env OMPI_COMM_WORLD_RANK=0 PMIX_NAMESPACE=job "$FLEXTRACE" record --no-convert -o all -- "$PROGRAM" say=ran
says 'A recording runs there' err.log
: >go
cat here >/dev/null
kill -TERM $record
cat <&3 >rest.log
exec 3<&-
wait $record || fail "record failed"
wait $program
expect_events all scope 10
expect_events all process 1

run 2 "$TERMINAL" 'until Ctrl-C' "$FLEXTRACE" record -o nothing
says 'No data' out.log

# Only one process, until it ends.
"$PROGRAM" write=here read=go scopes=11 &
one=$!
"$PROGRAM" write=here-2 read=go-2 scopes=12 &
two=$!
cat here >/dev/null
cat here-2 >/dev/null
"$FLEXTRACE" record --no-convert --pid=$two -o one 2>told >out.log &
record=$!
exec 3<told
hear
lttng --no-sessiond list --userspace >/dev/null # who answers has recorded its definitions
: >go
wait $one
: >go-2
cat <&3 >rest.log
exec 3<&-
wait $record || fail "record --pid failed"
wait $two
expect_events one scope 12
expect_events one process 1
! lttng --no-sessiond list | grep -q flextrace || fail "a session is left"
run 2 "$FLEXTRACE" record --pid=$two -o gone
says 'There is no such process: pid=' err.log
[ ! -e gone ] || fail "a directory is left"
