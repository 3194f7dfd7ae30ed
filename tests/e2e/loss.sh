#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# loss.sh BUILD: with tiny buffers in discard mode, records emitted = records read + losses.csv, exactly; and what LTTng
# itself counts, without the bit 63 that it sometimes sets, is the same number.
. "$(dirname "$0")/lib.sh"
cd "$LTTNG_TEST_DIR"
"$FLEXTRACE" record --output=out --subbuf-size=4K --num-subbuf=2 -- "$E2E/emit_many" 2 400000 >record.log 2>&1 ||
	{ cat record.log; fail "record failed"; }
emitted=$(sed -n 's/^emitted //p' record.log)
read=$(($(wc -l <out/host.csv) - 1))
lost=$(lost out lttng_discarded_events)
told=$(sed -n 's/.*warning: \([0-9]*\) events were lost.*/\1/p' record.log)
echo "emitted=$emitted read=$read lost=$lost told=$told"
[ "$lost" -gt 0 ] || fail "nothing was lost: the test proves nothing"
[ $((read + lost)) -eq "$emitted" ] || fail "$((emitted - read - lost)) records are not accounted for"
[ "$told" = "$lost" ] || fail "LTTng's own figure is '$told', losses.csv says $lost"
check_output out

status=0
"$FLEXTRACE" convert --quiet --fail-on-loss --output-dir=strict out/trace 2>convert.log || status=$?
[ "$status" -eq 3 ] || fail "--fail-on-loss gave exit code $status, not 3"
