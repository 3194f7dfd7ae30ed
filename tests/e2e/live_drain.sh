#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# live_drain.sh BUILD: cores that run while they are drained. What they sent is in the tables or in losses.csv, exactly, and a core
# that hangs is shown with what it was at.
. "$(dirname "$0")/lib.sh"
cd "$LTTNG_TEST_DIR"
"$FLEXTRACE" record --output=out -- "$E2E/live_drain" 300000 >record.log 2>&1 || { cat record.log; fail "record failed"; }
check_output out
grep '^sent' record.log || fail "the program says nothing"
# shellcheck disable=SC2046 # words
set -- $(grep '^sent' record.log)
sent=$2 drained=$4 dropped=$6 overwritten=$8
[ "$sent" -eq $((drained + dropped + overwritten)) ] || fail "the drain lost count"

column() { # column FILE NAME VALUE: rows whose column has that value
	awk -F, -v name="$2" -v value="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
		$at == value { n++ } END { print n + 0 }' "$1"
}
beats=$(column out/tables/instants.csv name beat)
lost=$(lost out device_ring_dropped)
echo "beats=$beats lost=$lost"
[ "$lost" -gt 0 ] || fail "nothing was lost: the test proves nothing"
# The run's own record of the ring is no row: it may be among what was lost, or not.
case $((sent - beats - lost)) in
0 | 1) ;;
*) fail "$((sent - beats - lost)) of $sent are not accounted for" ;;
esac

for name in stuck kernel firmware; do
	grep -q ",$name,.*,assumed," out/tables/events.csv || fail "events.csv does not show that core 1 hangs in $name"
done
grep -A 5 '"zones_without_end":' out/run.json | grep -q '"name":' || fail "the zone that never ended is not named"
[ "$(lost out unmatched_begin)" -eq 3 ] || fail "unmatched_begin is $(lost out unmatched_begin), not 3: zone, kernel and run"
[ "$(column out/tables/instants.csv name 'last sign of life')" -eq 1 ] || fail "the last sign of life is missing"
