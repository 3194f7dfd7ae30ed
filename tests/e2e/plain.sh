#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# plain.sh BUILD: types the README's plain lttng and babeltrace2 lines, word by word.
. "$(dirname "$0")/lib.sh"
cd "$LTTNG_TEST_DIR"
lttng-sessiond --daemonize
APP="$MINIFLEX --ranks=2 --iterations=5"
TRACE="$PWD/trace"
export APP TRACE

awk '/<!-- e2e:/ { found = 1 } found && /^```$/ { exit } found && typing { print } found && /^```sh$/ { typing = 1 }' \
	"$SOURCE/README.md" >lines.sh
[ "$(wc -l <lines.sh)" -ge 10 ] || fail "the README's plain lines were not found"
# The plug-in of the build tree may need the sanitizers' runtime.
sed -i 's/^babeltrace2 /bt2 /' lines.sh
. ./lines.sh >typed.log 2>&1 || { cat typed.log; fail "the README's lines do not work"; }
check_output out
[ "$(awk 'END { print NR }' out/tables/events.csv)" -gt 100 ] || fail "events.csv has no device rows"
