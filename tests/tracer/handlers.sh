#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# handlers.sh PROVIDER HANDLERS TOP [N]: records of signal handlers that interrupt malloc() are there, or counted. Runs
# below private.sh. With N: so many runs with timers of 20 us. FLEXTRACE_TEST_SANITIZED=1: a program with a sanitizer has
# that one's malloc(), so that both are built without.
provider=$1 handlers=$2 top=$3 n_times=${4:-0}
. "$(dirname "$0")/guest_lib.sh"
if [ "${FLEXTRACE_TEST_SANITIZED:-0}" = 1 ]; then
	options="-O1 -D_GNU_SOURCE -fvisibility=hidden -I$top/tracer/include -I$top/tracer/src"
	provider=$dir/libflextrace-lttng.so handlers=$dir/handlers
	# shellcheck disable=SC2086
	${CC:-cc} $options -shared -fPIC -D_LGPL_SOURCE -DLTTNG_UST_COMPAT_API_VERSION=1 "$top"/tracer/src/provider/*.c \
		"$top/tracer/src/wanted.c" -o "$provider" -llttng-ust -llttng-ust-common -llttng-ust-tracepoint -lpthread -ldl &&
		${CC:-cc} $options "$top"/tracer/src/*.c "$top/tests/tracer/handlers.c" -o "$handlers" -lpthread -ldl ||
		fail "building without a sanitizer"
fi
start_daemon
export FLEXTRACE_PROVIDER="$provider"
n_forms=9
forms='(scope|instant|counter|begin|end|async_begin|async_end|complete|device_op): .*"in handler"'

# handlers_test SESSION ARGUMENT...: rows and records left out are what the handlers did.
handlers_test() {
	session=$1
	shift
	session_start "$session" --subbuf-size=2M
	"$handlers" "$@" >"$dir/said" || fail "$*: status $?"
	session_stop "$session"
	handled=$(awk '{ print $1 }' "$dir/said")
	left_out=$(awk '{ print $3 }' "$dir/said")
	lost=$(sed -nE 's/.*discarded ([0-9]+) events?.*/\1/p' "$dir/$session.err" | awk '{ n += $1 } END { print n + 0 }')
	expect_count "$session" $((handled * n_forms - left_out - lost)) "$forms"
}
handlers_test ready ready
[ "$(cat "$dir/said")" = "400 handled, 0 left out" ] || fail "ready: $(cat "$dir/said")"
handlers_test unready unready
[ "$(cat "$dir/said")" = "400 handled, $((200 * n_forms)) left out" ] || fail "unready: $(cat "$dir/said")"

# A malloc() that records is called for the memory that LTTng makes of a thread: that record is left out.
session_start traced
"$handlers" traced >"$dir/said" || fail "traced: status $?"
session_stop traced
handled=$(awk '{ print $1 }' "$dir/said")
left_out=$(awk '{ print $3 }' "$dir/said")
[ "$handled" -ge 400 ] && [ "$left_out" -ge 1 ] && [ "$left_out" -le 20 ] || fail "traced: $(cat "$dir/said")"
expect_count traced $((handled - left_out)) 'instant: .*"in malloc"'

# Where nobody records, nothing is called and nothing is counted.
said=$("$handlers" unready) || fail "without a session: status $?"
[ "$said" = "400 handled, 0 left out" ] || fail "without a session: $said"

i=0
while [ $i -lt "$n_times" ]; do
	handlers_test "timers$i" timers 10
	rm -rf "${dir:?}/timers$i"
	i=$((i + 1))
done
exit $failed
