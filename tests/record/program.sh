#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# program.sh FLEXTRACE PROGRAM TERMINAL: `flextrace record -- CMD` is for CMD as if nobody stood between it and the user.
. "$(dirname "$0")/lib.sh"
needs_terminal

# Output, exit code and records pass through; nothing is left.
run 3 "$FLEXTRACE" record --no-convert -o exit -- "$PROGRAM" scopes=100 say=hello exit=3
says '^hello$' out.log
[ "$(wc -l <out.log)" -eq 1 ] || fail "record writes into the program's output"
expect_events exit scope 100
expect_events exit process 1
babeltrace2 exit/trace | grep -q 'session = "flextrace-program-' || fail "the process does not know its session"
nothing_left

# Death by a signal is told as a shell tells it.
run 137 "$FLEXTRACE" record --no-convert -o killed -- "$PROGRAM" scopes=7 raise=9
says 'exit code 137, as by signal 9 (Killed)' err.log
expect_events killed scope 7

# A recording is never overwritten.
run 4 "$FLEXTRACE" record --no-convert -o killed -- "$PROGRAM" say=ran
says 'recording already' err.log
[ ! -s out.log ] || fail "the program ran unrecorded"
expect_events killed scope 7

# What cannot run leaves nothing behind.
run 127 "$FLEXTRACE" record -o missing -- no-such-program
says 'not found' err.log
echo '#!/bin/sh' >unexecutable
run 126 "$FLEXTRACE" record -o missing -- ./unexecutable
printf '\0garbage' >garbage
chmod +x garbage
run 126 "$FLEXTRACE" record -o missing -- ./garbage
! grep -q 'No data' err.log || fail "blames a program that did not run"
# shellcheck disable=SC2016 # what is run with SIGTERM pending
run 143 env --block-signal=TERM sh -c 'kill -TERM $$; exec "$0" record -o missing -- "$1" say=ran' "$FLEXTRACE" "$PROGRAM"
says 'Interrupted before the program ran' err.log
! grep -q 'No data' err.log || fail "blames a program that did not run"
[ ! -s out.log ] || fail "the program ran"
[ ! -e missing ] || fail "a directory is left"

# A program without flextrace: loud, but its own failure comes first.
run 2 "$FLEXTRACE" record -o none -- true
says 'No data' err.log
run 5 "$FLEXTRACE" record -o none -- sh -c 'exit 5'
[ ! -e none ] || fail "an empty recording is left"
nothing_left

# Records of somebody else, which the session takes as well, are no data of the program.
run 2 "$FLEXTRACE" record -o strange -- env -u FLEXTRACE_SESSION "$PROGRAM" scopes=5
says 'No data' err.log
expect_events strange scope 5
nothing_left

# A signal to record reaches the program, once; record outlives it.
mkfifo here
"$FLEXTRACE" record --no-convert -o term -- "$PROGRAM" write=here await scopes=2 exit=6 >out.log 2>err.log &
cat here >/dev/null
kill -TERM $!
wait $!
status=$?
[ "$status" -eq 6 ] || fail "exit code $status, not 6"
says '^signal 15$' out.log
expect_events term scope 2

# Standard descriptors that are closed, as some launchers have them, are so for the program, and trouble nobody.
status=0
# shellcheck disable=SC2016 # what the recorded shell does
"$FLEXTRACE" record -o closed -- sh -c '[ ! -e /proc/self/fd/0 ] || exit 9; exec "$0" scopes=3' "$PROGRAM" <&- >&- 2>&- || status=$?
[ $status -eq 0 ] || fail "exit code $status, not 0, with closed descriptors"
expect_events closed scope 3
nothing_left

# Ctrl-C goes to the program, which has the terminal; record finishes.
run 8 "$TERMINAL" go "$FLEXTRACE" record --no-convert -o tty -- "$PROGRAM" terminal say=go await scopes=4 exit=8
says '^terminal' out.log
says 'signal 2' out.log
expect_events tty scope 4
nothing_left

# A daemon that was there stays, without a session of ours.
lttng-sessiond --daemonize --no-kernel >daemon.log 2>&1 || fail "cannot start a daemon"
run 0 "$FLEXTRACE" record --no-convert -o other -- "$PROGRAM" scopes=3
expect_events other scope 3
lttng --no-sessiond list >list.log 2>&1 || fail "the daemon of somebody else is gone"
! grep -q flextrace list.log || fail "a session is left"

# The doctor finds nothing that keeps a recording from working; colour only on a terminal, and only if wanted.
escape=$(printf '\033')
run 0 "$FLEXTRACE" doctor
says '^ok    session daemon: answers' out.log
! grep -q "$escape" out.log || fail "colour in a file"
plugins=$(sed -n 's/.*export BABELTRACE_PLUGIN_PATH=//p' out.log)
[ -z "$plugins" ] || [ -e "$plugins/babeltrace-plugin-flextrace.so" ] || fail "no plug-in in $plugins"
run 0 env TERM=xterm "$TERMINAL" - "$FLEXTRACE" doctor
says "$escape" out.log
run 0 env TERM=xterm NO_COLOR=1 "$TERMINAL" - "$FLEXTRACE" doctor
! grep -q "$escape" out.log || fail "colour in spite of NO_COLOR"

# Wrong usage.
run 1 "$FLEXTRACE" record --subbuf-size=3M -- true
says 'Not a size' err.log
run 1 "$FLEXTRACE" record --num-subbuf=3 -- true
run 1 "$FLEXTRACE" record --schedule=1,2,3 -- true
run 1 "$FLEXTRACE" record --schedule=1,2,0,1 -- true
run 1 "$FLEXTRACE" record --schedule=1,2,3,4294967296 -- true
run 1 "$FLEXTRACE" record --pid=1 -- true
run 1 "$FLEXTRACE" record --windows-only
