#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# waits.sh FLEXTRACE PROGRAM TERMINAL: what a command waits for is told, and a signal ends the wait. Each is made to last:
# a lock that is held, a daemon, a tool and a provider that never answer.
. "$(dirname "$0")/lib.sh"
mkfifo told held release never here go

# waits_until WORDS SIGNAL COMMAND...: the command says these words; then the signal is sent. Its exit code is in $status,
# what it said in err.log. SIGINT is ignored in what a script starts in the background, unless it is asked not to.
waits_until() {
	words=$1
	signal=$2
	shift 2
	status=0
	env --default-signal=INT "$@" 2>told >out.log &
	waiting=$!
	: >err.log
	while read -r line; do
		echo "$line" >>err.log
		case $line in
		*"$words"*) kill -"$signal" "$waiting" ;;
		esac
	done <told
	wait $waiting || status=$?
	says "$words" err.log
}

# hold FILE: holds its lock until `let_go`.
hold() {
	flock "$1" sh -c 'echo >held; read -r _ <release' &
	holder=$!
	read -r _ <held
}

let_go() {
	echo >release
	wait $holder
}

run_dir=${LTTNG_HOME:-$HOME}/.lttng
[ "$(id -u)" -ne 0 ] || run_dir=/run/lttng
mkdir -p "$run_dir"

# Another flextrace begins a recording, and does not finish.
hold "$run_dir/flextrace.lock"
waits_until 'waiting for another flextrace' TERM "$FLEXTRACE" record -o locked -- "$PROGRAM" say=ran
[ $status -eq 2 ] || fail "exit code $status of record that was ended"
says 'Waiting no longer for another flextrace, which begins or ends a recording: Terminated' err.log
[ ! -s out.log ] && [ ! -e locked ] || fail "the program ran unrecorded, or something is left"
waits_until 'waiting for another flextrace' INT "$FLEXTRACE" start -o locked
[ $status -eq 2 ] && [ ! -e locked ] || fail "exit code $status of start that was interrupted, or something is left"
# ... a member of a job waits for the one that begins it, and that for the lock.
export OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_SIZE=2 PMIX_NAMESPACE=waits
"$FLEXTRACE" record -o locked -- "$PROGRAM" scopes=3 >first.log 2>held &
first=$!
while read -r line && [ "${line#*waiting for}" = "$line" ]; do :; done <held
waits_until 'waiting for another flextrace, which begins or ends this recording' TERM \
	"$FLEXTRACE" record -o locked -- "$PROGRAM" say=ran
[ $status -eq 2 ] && [ ! -s out.log ] || fail "exit code $status of a member that was ended"
let_go
wait $first || fail "the first member failed"
unset OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_LOCAL_SIZE PMIX_NAMESPACE
[ "$(rows locked/tables/host.csv)" -eq 3 ] || fail "not 3 rows of who waited for the lock"

# The lock, when a recording ends.
run 0 "$FLEXTRACE" start -o ending
"$PROGRAM" scopes=10
hold "$run_dir/flextrace.lock"
waits_until 'waiting for another flextrace' TERM "$FLEXTRACE" stop --no-convert ending
let_go
[ $status -eq 0 ] || fail "exit code $status of stop"
expect_events ending scope 10

# A session daemon that stands still, whoever asks. 
run 0 "$FLEXTRACE" start -o still
daemon=$(pgrep -u "$(id -u)" -o -x lttng-sessiond) # it was left, as its lock was held
"$PROGRAM" write=here read=go &
program=$!
cat here >/dev/null
"$HALT" "$daemon"
for command in status "doctor --pid=$program"; do
	# shellcheck disable=SC2086 # words
	waits_until 'lttng-sessiond is stopped' TERM "$FLEXTRACE" $command
	[ $status -eq 143 ] || fail "exit code $status of $command"
done
waits_until 'lttng-sessiond is stopped' INT "$FLEXTRACE" record -o other -- "$PROGRAM" say=ran
[ $status -eq 2 ] && [ ! -s out.log ] && [ ! -e other ] || fail "exit code $status of record"
says 'Waiting no longer for LTTng: Interrupt' err.log
says 'what it makes of this session when it goes on is taken back: session=flextrace-program-' err.log
kill -CONT "$daemon"
while pgrep -u "$(id -u)" -x flextrace-undo >/dev/null; do :; done
lttng --no-sessiond list >list.log
! grep flextrace-program- list.log || fail "a session is left that nobody waited for"
: >go
wait $program || fail "the program failed"
run 0 "$FLEXTRACE" stop --no-convert still

# A provider that never loads.
waits_until 'waiting for the LTTng provider to load' TERM env FLEXTRACE_PROVIDER="$PWD/never" \
	"$FLEXTRACE" record -o loading -- "$PROGRAM" say=ran
[ $status -eq 2 ] && [ ! -s out.log ] && [ ! -e loading ] || fail "exit code $status of record, or the program ran"

# Tools that never end.
mkdir tools
for tool in lttng-crash babeltrace2; do
	printf '#!/bin/sh\nread -r _ <"%s/never"\n' "$PWD" >tools/$tool
	chmod +x tools/$tool
done
waits_until 'waiting for babeltrace2' TERM env PATH="$PWD/tools:$PATH" "$FLEXTRACE" doctor
[ $status -eq 143 ] || fail "exit code $status of doctor"
run 0 "$FLEXTRACE" start --crash-safe --subbuf-size=16K --num-subbuf=16 -o crashed
"$PROGRAM" scopes=100
kill_daemons "$(daemon_of crashed)"
waits_until 'waiting for lttng-crash' TERM env PATH="$PWD/tools:$PATH" "$FLEXTRACE" convert -o converted crashed
[ $status -eq 143 ] || fail "exit code $status of convert"
waits_until 'waiting for lttng-crash' TERM env PATH="$PWD/tools:$PATH" "$FLEXTRACE" stop crashed
says 'lttng-crash did not end; by hand: lttng-crash --extract=.*/crashed/trace/recovered .*/crashed/buffers' err.log
run 0 "$FLEXTRACE" convert -o converted crashed
[ "$(rows converted/tables/host.csv)" -eq 100 ] || fail "not 100 rows of what was recovered at last"
nothing_left
