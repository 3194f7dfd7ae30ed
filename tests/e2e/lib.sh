# SPDX-License-Identifier: Apache-2.0
# Shared by the end-to-end tests: paths in the build tree, checks of an output directory.
# shellcheck shell=sh
set -eu

BUILD=$1
SOURCE=$(cd "$(dirname "$0")/../.." && pwd)
FLEXTRACE="$BUILD/cli/flextrace"
E2E="$BUILD/tests/e2e"
MINIFLEX="$BUILD/tracer/examples/miniflex/miniflex"
export BABELTRACE_PLUGIN_PATH="$BUILD/converter/bt2"
FLEXTRACE_PROVIDER=$(find "$BUILD/tracer" -name 'libflextrace-lttng.so' | head -n 1)
export FLEXTRACE_PROVIDER
# A plug-in with sanitizers in a program without them: the runtime must come first, and what the program
# itself never frees is not ours.
export ASAN_OPTIONS="detect_leaks=0:verify_asan_link_order=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"

fail() {
	echo "FAIL: $*" >&2
	exit 1
}

# babeltrace2, with the sanitizers' runtime in front if the plug-in needs it.
bt2() {
	asan=$(ldd "$BABELTRACE_PLUGIN_PATH"/*.so 2>/dev/null | awk '/libasan/ { print $3; exit }')
	LD_PRELOAD="${asan:-}" babeltrace2 "$@"
}

# Checks every file of an output directory with checkers that share no code with the writers.
check_output() {
	"$BUILD/tests/check_trace" "$1/trace.json" || fail "trace.json is bad"
	"$BUILD/tests/check_csv" "$1" || fail "a CSV file is bad"
	"$BUILD/tests/check_run" "$1" >books.txt || { cat books.txt; fail "run.json is bad"; }
	leftover=$(find "$1" -name '*.tmp')
	[ -z "$leftover" ] || fail "half-written files: $leftover"
}

# epoch_offset TRACE: what LTTng adds to its clock to get ns since the Unix epoch.
epoch_offset() {
	bt2 "$(dirname "$(find "$1" -name metadata | head -n 1)")" --output-format=ctf-metadata |
		sed -n 's/^[ \t]*offset = \([0-9]*\);/\1/p' | head -n 1
}

# same_files A B: the files of two output directories are byte-identical.
same_files() {
	diff -rq "$1" "$2" || fail "$1 and $2 differ"
}

# table_of DIR NAME: its path; a table without a row has no file.
table_of() {
	if [ -e "$1/tables/$2.csv" ]; then echo "$1/tables/$2.csv"; else echo /dev/null; fi
}

# Sum of the column `count` of losses.csv over rows with a cause: lost DIR CAUSE
lost() {
	awk -F, -v cause="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["cause"] == cause { n += $at["count"] } END { printf "%.0f\n", n }' "$(table_of "$1" losses)"
}
