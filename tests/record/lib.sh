# SPDX-License-Identifier: Apache-2.0
# Shared by the tests of `flextrace record`: what is under test, and what must hold after each recording.
# shellcheck shell=sh
set -u

FLEXTRACE=$1
PROGRAM=$2
TERMINAL=${3:-}
UNREAD=$(dirname "$0")/../scripts/unread.sh
HALT=$(dirname "$0")/../scripts/halt.sh
unset FLEXTRACE_SESSION FLEXTRACE_WINDOWS_ONLY FLEXTRACE_SCHEDULE
cd "$LTTNG_TEST_DIR" || exit 1

fail() {
	echo "FAIL: $*" >&2
	for log in *.log; do
		[ -s "$log" ] && { echo "-- $log" >&2; cat "$log" >&2; }
	done
	exit 1
}

needs_terminal() {
	"$TERMINAL" - true && return
	echo "skipped: no terminal can be opened (/dev/ptmx, /dev/pts)"
	exit 77
}

# run WANTED_CODE COMMAND...: output in out.log, messages in err.log.
run() {
	wanted=$1
	shift
	status=0
	"$@" >out.log 2>err.log || status=$?
	[ "$status" -eq "$wanted" ] || fail "exit code $status, not $wanted: $*"
}

says() {
	grep -q -- "$1" "$2" || fail "$2 does not say '$1'"
}

# The guardian of a recorder that died has done its work.
no_guardian() {
	while pgrep -u "$(id -u)" -x flextrace-guard >/dev/null; do :; done
}

# Nothing that record started is left.
nothing_left() {
	no_guardian
	! lttng --no-sessiond list >/dev/null 2>&1 || fail "a session daemon is left"
	[ -z "$(find . -name .flextrace-recording)" ] || fail "a state file is left"
}

# events DIR NAME: how many records of that event the trace holds.
events() {
	babeltrace2 "$1/trace" 2>/dev/null | grep -c " flextrace:$2: " || true
}

# expect_events DIR NAME COUNT
expect_events() {
	n=$(events "$1" "$2")
	[ "$n" -eq "$3" ] || fail "$n records of $2 in $1, not $3"
}

# rows FILE: data rows of a table without line breaks in its cells.
rows() {
	if [ -e "$1" ]; then echo $(($(wc -l <"$1") - 1)); else echo 0; fi
}

# table_of DIR NAME: its path; a table without a row has no file.
table_of() {
	if [ -e "$1/tables/$2.csv" ]; then echo "$1/tables/$2.csv"; else echo /dev/null; fi
}

# daemon_of DIR: the session daemon that records there.
daemon_of() {
	sed -n 's/^daemon \([0-9]*\) .*/\1/p' "$1/.flextrace-recording"
}

# kill_daemons DAEMON: it and its consumer daemons end at once, as when the machine goes down. They stand still before, or
# one of them would do something when another one is gone.
kill_daemons() {
	consumers=$(pgrep -P "$1" lttng-consumerd)
	for pid in "$1" $consumers; do
		"$HALT" "$pid" || fail "cannot stop $pid"
	done
	# shellcheck disable=SC2086 # a list of pids
	kill -KILL "$1" $consumers
	for pid in "$1" $consumers; do
		tail --pid="$pid" -f /dev/null
	done
}

# hear: stores in $line what record says next on descriptor 3, but that it waits: it says so where the machine is slow.
hear() {
	while read -r line <&3 && [ "${line#flextrace: waiting for}" != "$line" ]; do :; done
}
