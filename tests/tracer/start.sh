#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# start.sh PROVIDER CONSTRUCTORS HOST PLUGIN TOP: scopes of static constructors are recorded, those that run before
# flextrace's own, too, or else counted; a plug-in may bring libflextrace late, and a program that is linked statically runs and says why it records nothing. Runs below private.sh.
provider=$1 constructors=$2 host=$3 plugin=$4 top=$5
. "$(dirname "$0")/guest_lib.sh"
start_daemon
export FLEXTRACE_PROVIDER="$provider" FLEXTRACE_VERBOSE=1

session_start constructors
[ "$("$constructors" 2>"$dir/said")" = "2 left out" ] || fail "constructors: status $?, or a wrong count"
grep -q "Provider loaded" "$dir/said" || fail "constructors: $(cat "$dir/said")"
# Started by the loader's own name it is as dynamic as ever.
loader=$(readelf -lW "$constructors" | sed -nE 's/.*Requesting program interpreter: (.*)\]/\1/p')
"$loader" "$constructors" >"$dir/out" 2>"$dir/said" || fail "by the loader: status $?"
grep -q "Provider loaded" "$dir/said" || fail "by the loader: $(cat "$dir/said")"
session_stop constructors
for name in "early constructor" "constructor" "main" "constructor before flextrace" \
	"called while a library is constructed" "library: early constructor" "library: constructor" "library"; do
	expect_count constructors 2 "scope: .*name = \"$name\""
done
expect_count constructors 4 'scope: .*name = "destructor"'
expect_count constructors 2 'instant: .*name = "called while a library is constructed"'
expect_count constructors 0 '.*"left out"'
FLEXTRACE=0 "$constructors" >"$dir/out" || fail "off: status $?"
[ "$(cat "$dir/out")" = "0 left out" ] || fail "off: $(cat "$dir/out")"

# A plug-in brings it into a program that has a thread: both threads record.
session_start plugin
"$host" "$plugin" 2>"$dir/said" || fail "host: status $?, $(cat "$dir/said")"
session_stop plugin
expect_count plugin 2 'instant: .*"in the plugin"'
tids=$(sed -nE 's/.*vtid = ([0-9]+) .*"in the plugin".*/\1/p' "$dir/plugin.txt" | sort -u | wc -l)
[ "$tids" -eq 2 ] || fail "host: records of $tids threads"

# static_test OPTION: skipped where the compiler cannot.
static_test() {
	${CC:-cc} "$1" "$top"/tracer/src/*.c "$top/tests/tracer/constructors.c" -I"$top/tracer/include" -lpthread -ldl \
		-o "$dir/static" 2>/dev/null || { echo "note: no programs with $1 here"; return; }
	"$dir/static" 2>"$dir/said" || fail "$1: status $?"
	[ "$(cat "$dir/said")" = "flextrace: No provider: the program is linked statically" ] ||
		fail "$1: $(cat "$dir/said")"
	FLEXTRACE_VERBOSE=0 "$dir/static" 2>"$dir/said" || fail "$1: status $?"
	[ ! -s "$dir/said" ] || fail "$1, not verbose: $(cat "$dir/said")"
}
static_test -static
static_test -static-pie
exit $failed
