#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# doctor.sh FLEXTRACE PROGRAM: what the doctor says of a running process, from no session daemon to a recording.
. "$(dirname "$0")/lib.sh"
export LTTNG_UST_REGISTER_TIMEOUT=-1 # the program runs when it is registered
export HOME="$PWD" # where lttng notes the session that it made last
mkfifo here go

# started [NAME=VALUE...]: the program stands still, its pid is in $program.
started() {
	env "$@" "$PROGRAM" write=here read=go &
	program=$!
	cat here >/dev/null
}
ended() {
	: >go
	wait $program || fail "the program failed"
}

# Nobody records here yet; a program that cannot wait for a daemon.
started LTTNG_UST_REGISTER_TIMEOUT=0
run 0 "$FLEXTRACE" doctor --pid=$program
says '^ok    instrumented: .*/program, flextrace ' out.log
says '^ok    LTTng provider: .*libflextrace-lttng.so, flextrace ' out.log
says '^warn  session daemon: none answers' out.log
ended

lttng-sessiond --daemonize --no-kernel >daemon.log 2>&1 || fail "cannot start a daemon"
started FLEXTRACE_RANK=0
run 0 "$FLEXTRACE" doctor --pid=$program
says '^ok    session daemon: knows 31 events' out.log
says '^warn  events: off, no session records them' out.log
says "flextrace record --pid=$program" out.log

# A session for another process, then one for all.
lttng create other --output="$PWD/other" >lttng.log 2>&1 &&
	lttng enable-event --session=other --userspace 'flextrace:scope,flextrace:st*' >>lttng.log 2>&1 &&
	lttng track --session=other --userspace --vpid=1 >>lttng.log 2>&1 && lttng start other >>lttng.log 2>&1 || fail "lttng"
run 0 "$FLEXTRACE" doctor --pid=$program
says '^warn  events: off' out.log
lttng track --session=other --userspace --vpid=$program >>lttng.log 2>&1 || fail "lttng track"
run 0 "$FLEXTRACE" doctor --pid=$program
says '^ok    events: 2 are on, session other records them$' out.log
lttng stop other >>lttng.log 2>&1 && lttng destroy other >>lttng.log 2>&1 || fail "lttng destroy"
run 0 "$FLEXTRACE" start -o all
run 0 "$FLEXTRACE" doctor --pid=$program
says '^ok    events: 31 are on, session flextrace-start-.* records them$' out.log
run 0 "$FLEXTRACE" stop --no-convert
ended

started FLEXTRACE=0
run 2 "$FLEXTRACE" doctor --pid=$program
says '^fail  LTTng provider: switched off by FLEXTRACE=0' out.log
ended
started FLEXTRACE_PROVIDER=/nowhere.so
run 2 "$FLEXTRACE" doctor --pid=$program
says '^fail  LTTng provider: not loaded, although FLEXTRACE_PROVIDER=/nowhere.so' out.log
ended

# A shell has nothing of ours in it.
run 2 "$FLEXTRACE" doctor --pid=$$
says '^fail  process .*: not instrumented' out.log
