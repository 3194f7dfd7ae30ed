#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# threads.sh BUILD N: N threads one after the other and N at once: each has its row, its name and its line.
. "$(dirname "$0")/lib.sh"
N=$2
cd "$LTTNG_TEST_DIR"
status=0
"$FLEXTRACE" record --output=out -- "$BUILD/tests/threads" "$N" >record.log 2>&1 || status=$?
[ $status -ne 77 ] || { echo "skipped: $(grep 'no more than' record.log)"; exit 77; }
[ $status -eq 0 ] || { cat record.log; fail "record failed"; }
check_output out
[ ! -e out/tables/losses.csv ] || fail "something was lost"

# "short 0" has one row, of the name "short"; those that live at once have different numbers, too.
awk -F, -v n="$N" '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ split($at["thread"], name, " "); n_rows[name[1]]++ }
	name[1] != $at["name"] { print "thread", $at["thread"], "has a row of", $at["name"]; exit 1 }
	seen[$at["thread"]]++ { print "twice:", $at["thread"]; exit 1 }
	name[1] == "long" && tids[$at["tid"]]++ { print "tid twice:", $at["tid"]; exit 1 }
	END { if (n_rows["short"] != n || n_rows["long"] != n) { print n_rows["short"], n_rows["long"]; exit 1 } }' out/tables/host.csv ||
	fail "host.csv: see above"
lines=$(grep -c '"name":"thread_name".*"args":{"name":"\(short\|long\) [0-9]*"}' out/trace.json)
[ "$lines" -eq $((2 * N)) ] || fail "trace.json names $lines lines"
