#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sanitizers.sh DEFECTS THREADS_SH DEFECTS_OF_THREADS: the sanitizers that the suite runs with find a defect of each kind.
set -u
bad=0

# finds TEXT COMMAND...: it fails, and says TEXT.
finds() {
	text=$1
	shift
	said=$("$@" 2>&1)
	code=$?
	if [ $code -eq 77 ]; then
		echo "$said"
		exit 77
	elif [ $code -eq 0 ] || ! printf '%s\n' "$said" | grep -q "$text"; then
		printf 'FAIL: %s: exit code %d, and no "%s":\n%s\n' "$*" $code "$text" "$said"
		bad=1
	fi
}

finds 'LeakSanitizer: detected memory leaks' "$1" leak
finds 'AddressSanitizer: heap-buffer-overflow' "$1" overrun
finds 'runtime error: signed integer overflow' "$1" overflow
finds 'ThreadSanitizer: data race' "$2" "$3" race
exit $bad
