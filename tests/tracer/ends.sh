#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ends.sh PROVIDER ENDS [N]: a process whose main thread has ended ends with its last thread, LTTng's apart. Runs below
# private.sh, N times.
provider=$1 ends=$2 n_times=${3:-1}
. "$(dirname "$0")/guest_lib.sh"
export FLEXTRACE_PROVIDER="$provider"

ends_test() {
	timeout 120 "$ends" "$@" >"$dir/said" || fail "$*: status $?"
	[ "$(cat "$dir/said")" = over ] || fail "$*: $(cat "$dir/said")"
}

ends_test # without a session daemon
start_daemon
i=0
while [ $i -lt "$n_times" ]; do
	session_start ended
	ends_test
	ends_test child
	session_stop ended
	expect_count ended 6 'instant: .*"in thread"'
	rm -rf "$dir/ended"
	i=$((i + 1))
done
exit $failed
