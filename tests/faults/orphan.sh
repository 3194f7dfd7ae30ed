#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# orphan.sh FLEXTRACE PROGRAM: the session daemon is killed with the command that recorded, its consumer daemon lives on.
. "$(dirname "$0")/lib.sh"

begin died "$FLEXTRACE" record --no-convert -o died -- "$PROGRAM" scopes=5 write=here read=go
"$HALT" "$consumer"
kill -KILL "$daemon" "$record"
finish 137
no_guardian

# The next record waits for it: what it removes at its end would be the new consumer's.
"$FLEXTRACE" record --no-convert -o next -- "$PROGRAM" scopes=4 2>err &
record=$!
while read -r line; do
	echo "$line" >>err.log
	[ "$line" != "flextrace: waiting for the lttng-consumerd of a session daemon that died: pid=$consumer" ] ||
		kill -CONT "$consumer"
done <err
wait $record || fail "exit code $?"
says 'waiting for the lttng-consumerd' err.log
expect_events died scope 5
expect_events next scope 4
all_clean
