# SPDX-License-Identifier: Apache-2.0
# Shared by the tests of what flextrace does in somebody's process: sessions of a session daemon of their own.
# shellcheck shell=sh
set -u
dir=$LTTNG_TEST_DIR
failed=0
# In the child of a process with threads LeakSanitizer waits for threads that are not there.
export ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
lttng="lttng --no-sessiond --group=root -q"

fail() {
	echo "FAILED: $*"
	failed=1
}

start_daemon() {
	for tool in lttng lttng-sessiond babeltrace2; do
		command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
	done
	lttng-sessiond --no-kernel --background --pidfile="$dir/daemon.pid" 2>"$dir/daemon.log" || {
		cat "$dir/daemon.log"
		echo "skipped: lttng-sessiond does not start here"
		exit 77
	}
	trap 'kill "$(cat "$dir/daemon.pid")" 2>/dev/null' EXIT
	export LTTNG_UST_REGISTER_TIMEOUT=-1 # however busy the machine is, programs wait until they are registered
}

# session_start NAME [OPTION...]: options of `lttng enable-channel`.
session_start() {
	session=$1
	shift
	$lttng create "$session" --output="$dir/$session" &&
		$lttng enable-channel -u "${@:---subbuf-size=64k}" --num-subbuf=4 data &&
		$lttng add-context -u -c data -t vpid -t vtid &&
		$lttng enable-event -u -c data 'flextrace:*' &&
		$lttng start "$session" || fail "session $session"
}

session_stop() {
	$lttng stop "$1" && $lttng destroy "$1" || fail "stopping $1"
	babeltrace2 "$dir/$1" >"$dir/$1.txt" 2>"$dir/$1.err" || { cat "$dir/$1.err"; fail "reading $1"; }
}

expect_count() { # session, how often, pattern
	n=$(grep -cE -- "flextrace:$3" "$dir/$1.txt")
	[ "$n" -eq "$2" ] || fail "$1 has $n instead of $2 of $3"
}
