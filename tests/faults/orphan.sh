#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# orphan.sh FLEXTRACE PROGRAM: the session daemon is killed, its consumer daemon lives on for a while.
. "$(dirname "$0")/../record/lib.sh"
mkfifo here go

"$FLEXTRACE" record --no-convert -o died -- "$PROGRAM" scopes=5 write=here read=go >died.log 2>&1 &
record=$!
cat here >/dev/null
daemon=$(sed -n 's/^daemon \([0-9]*\) .*/\1/p' died/.flextrace-recording)
consumer=$(pgrep -o -x lttng-consumerd)
kill -STOP "$consumer"
kill -KILL "$daemon" $record
wait $record
: >go

# The next record waits for it: what it removes at its end would be the new consumer's.
mkfifo err
"$FLEXTRACE" record --no-convert -o next -- "$PROGRAM" scopes=4 2>err &
record=$!
while read -r line; do
	echo "$line" >>err.log
	case $line in
	*"waiting for the lttng-consumerd of a session daemon that died: pid=$consumer") kill -CONT "$consumer" ;;
	esac
done <err
wait $record || fail "exit code $?"
says 'waiting for the lttng-consumerd' err.log
expect_events next scope 4
rm -f died/.flextrace-recording
nothing_left
! pgrep -x lttng-consumerd >/dev/null || fail "a consumer daemon is left"
