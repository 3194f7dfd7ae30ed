#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# parallel.sh FLEXTRACE PROGRAM: recordings that know nothing of each other begin and end at once, with one session daemon.
. "$(dirname "$0")/lib.sh"

for i in 1 2 3 4 5 6; do
	"$FLEXTRACE" record -o "out-$i" -- "$PROGRAM" "scopes=$i" >"$i.log" 2>&1 &
	eval "pid_$i=$!"
done
for i in 1 2 3 4 5 6; do
	eval "wait \$pid_$i" || fail "recording $i failed"
	expect_rows "out-$i" host.csv "$i" "$i"
done
all_clean
