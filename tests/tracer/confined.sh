#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# confined.sh PROVIDER CONFINED: programs that have little are recorded: no system calls but write(), the smallest stacks;
# and scopes that a thread's end leaves. Runs below private.sh.
provider=$1 confined=$2
. "$(dirname "$0")/guest_lib.sh"
start_daemon
export FLEXTRACE_PROVIDER="$provider"

# confined_test WAY
confined_test() {
	session_start "$1" --subbuf-size=1M
	status=0
	"$confined" "$1" || status=$?
	session_stop "$1"
	[ $status -eq 0 ] || [ $status -eq 77 ] || fail "$1: status $status"
}
confined_test filter
if [ $status -eq 77 ]; then
	echo "note: no seccomp filters here"
else
	lost=$(sed -nE 's/.*discarded ([0-9]+) events?.*/\1/p' "$dir/filter.err" | awk '{ n += $1 } END { print n + 0 }')
	expect_count filter $((20000 - lost)) 'instant: .*"confined"'
fi
confined_test stacks
expect_count stacks 2000 'scope: .*"small"'
confined_test left
expect_count left 20 'scope: .*"ended"'
expect_count left 0 'scope: .*"jumped"'
expect_count left 20 'scope: .*"cancelled"'
exit $failed
