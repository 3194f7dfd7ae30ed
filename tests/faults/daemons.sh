#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# daemons.sh FLEXTRACE PROGRAM: LTTng's daemons are killed, stopped, restarted while a program is recorded. The program
# goes on, what was written is converted, the user is told.
. "$(dirname "$0")/lib.sh"

# The session daemon is killed: its consumer writes what it has.
begin killed "$FLEXTRACE" record -o killed -- "$PROGRAM" scopes=50 write=here read=go scopes=7 say=done
kill -KILL "$daemon"
has_ended "$daemon"
finish 2
says '^done$' out.log
says 'daemon was killed, but what it had written is kept' err.log
expect_rows killed host.csv 50 57
all_clean

# ... and another one was started meanwhile, which knows nothing of the session.
begin restarted "$FLEXTRACE" record -o restarted -- "$PROGRAM" scopes=50 write=here read=go scopes=7 say=done
kill -KILL "$daemon"
has_ended "$daemon"
has_ended "$consumer"
lttng-sessiond --daemonize --no-kernel >daemon.log 2>&1 || fail "cannot start a daemon"
finish 2
says '^done$' out.log
says 'daemon was killed, but what it had written is kept' err.log
expect_rows restarted host.csv 50 57
lttng --no-sessiond list >list.log 2>&1 || fail "the daemon of somebody else is gone"
other=$(cat /run/lttng/lttng-sessiond.pid 2>/dev/null || cat "${LTTNG_HOME:-$HOME}/.lttng/lttng-sessiond.pid")
kill -TERM "$other"
has_ended "$other" # it answers no more long before it has removed its sockets

# The consumer daemon is killed before it wrote anything, and after: the buffers are there.
begin nothing "$FLEXTRACE" record -o nothing -- "$PROGRAM" scopes=50 write=here read=go scopes=7 say=done
kill -KILL "$consumer"
has_ended "$consumer"
finish 2
says '^done$' out.log
says 'LTTng failed while it recorded' err.log
# Unless the session daemon was faster and had removed the description of the buffers.
[ ! -e nothing ] || expect_rows nothing host.csv 57 57
all_clean

begin some "$FLEXTRACE" record --subbuf-size=4K --num-subbuf=4 -o some -- \
	"$PROGRAM" scopes=1000 write=here read=go scopes=7
for written in 'events_*' metadata; do # not index/events_*, which begins with something
	while [ -z "$(find some/trace -path "*-bit/$written" -size +0)" ]; do :; done
done
kill -KILL "$consumer"
has_ended "$consumer"
finish 2
says 'daemon was killed, but what it had written is kept' err.log
expect_rows some host.csv 1 1007
all_clean

# ... in chunks: LTTng, which cannot close one, ends the session as if all was well.
begin chunks "$FLEXTRACE" record --no-convert --rotate=1s --subbuf-size=4K --num-subbuf=4 -o chunks -- \
	"$PROGRAM" scopes=1000 write=here read=go scopes=7
for written in 'events_*' metadata; do
	while [ -z "$(find chunks/trace -path "*-bit/$written" -size +0)" ]; do :; done
done
kill -KILL "$consumer"
has_ended "$consumer"
while ! grep -q 'No more chunks are closed, and records may be lost from here on' err.log; do :; done
finish 2
run 0 "$FLEXTRACE" convert -q -o chunks chunks
expect_rows chunks host.csv 1 1006
all_clean

# One of them is stopped: the user is told which, and lets it go on. Nothing is lost.
begin consumer "$FLEXTRACE" record -o consumer -- "$PROGRAM" scopes=50 write=here read=go scopes=7
"$HALT" "$consumer"
finish 0
says "lttng-consumerd is stopped, .kill -CONT $consumer" err.log
expect_rows consumer host.csv 57 57
# ... whoever asks.
mkfifo asked
begin flight "$FLEXTRACE" record --flight-recorder=1M -o flight -- "$PROGRAM" scopes=50 write=here read=go
"$HALT" "$consumer"
"$FLEXTRACE" snapshot >asked 2>&1 &
snapshot=$!
{
	grep -m 1 "lttng-consumerd is stopped, .kill -CONT $consumer" && kill -CONT "$consumer"
	cat
} <asked >snapshot.log
wait $snapshot || fail "no snapshot"
says 'lttng-consumerd is stopped' snapshot.log
finish 0
expect_rows flight/snapshots/1 host.csv 50 50
begin daemon "$FLEXTRACE" record -o daemon -- "$PROGRAM" scopes=50 write=here read=go scopes=7
"$HALT" "$daemon"
"$FLEXTRACE" status >asked 2>&1 &
grep -m 1 'lttng-sessiond is stopped' asked >status.log || fail "status waits without a word"
finish 0
says "lttng-sessiond is stopped, .kill -CONT $daemon" err.log
expect_rows daemon host.csv 57 57
all_clean
