#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# events.sh BUILD SECONDS: 1 M events a second from two threads through channels of the default size: records emitted = records
# read + lost, exactly, and LTTng's own count of what was lost is the same.
. "$(dirname "$0")/lib.sh"
cd "$LTTNG_TEST_DIR"
"$FLEXTRACE" record --no-convert --output=out -- "$E2E/emit_many" 2 $(($2 * 1000000)) 1000000 >record.log 2>&1 ||
	{ cat record.log; fail "record failed"; }
"$FLEXTRACE" convert --quiet --memory-limit=1G --formats=csv --count=1 --output-dir=out/csv out/trace
emitted=$(sed -n 's/^emitted //p' record.log)
read=$(records out/csv scope)
lost=$(lost out/csv lttng_discarded_events)
told=$(sed -n 's/.*warning: \([0-9]*\) events were lost.*/\1/p' record.log)
echo "emitted=$emitted read=$read lost=$lost told=${told:-0}, $(grep '^took' record.log)"
[ "$emitted" -gt 0 ] || fail "nothing was recorded"
[ $((read + lost)) -eq "$emitted" ] || fail "$((emitted - read - lost)) records are not accounted for"
[ "${told:-0}" = "$lost" ] || fail "LTTng's own figure is '$told', losses.csv says $lost"
