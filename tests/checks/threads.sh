#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# threads.sh PROGRAM [ARGUMENT...]: a program of ThreadSanitizer's. Its runtime of gcc 12 has fixed places in memory,
# where newer kernels may have put the program: where that cannot be switched off, it is skipped if it could not start.
set -u
export TSAN_OPTIONS="exitcode=66:halt_on_error=1:second_deadlock_stack=1"
start=
setarch -R true 2>/dev/null && start="setarch -R"

log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
$start "$@" >"$log" 2>&1
code=$?
cat "$log"
if [ $code -ne 0 ] && grep -q 'FATAL: ThreadSanitizer: unexpected memory mapping' "$log"; then
	echo "skipped: ThreadSanitizer does not run on this kernel's layout of memory"
	exit 77
fi
exit $code
