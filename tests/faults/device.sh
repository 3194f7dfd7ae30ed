#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# device.sh FLEXTRACE BAD_DEVICE: a device that resets, writes garbage into its area or lies about its head index. What was
# read before is in the tables, certified as ever; what contradicts itself is refused and nothing is made up.
. "$(dirname "$0")/lib.sh"

# beats CORE: marks of a core in instants.csv.
beats() {
	awk -F, -v core="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["name"] == "beat" && $at["core"] == core { n++ } END { print n + 0 }' out/tables/instants.csv
}

run 0 "$FLEXTRACE" record -o out -- "$PROGRAM"
says '^core 0 refused 0 resets 0$' out.log
says '^core 1 refused 0 resets 1$' out.log
says '^core 2 refused 1 ' out.log
says '^core 3 refused 1 resets 0$' out.log
for core in 0:200 1:200 2:100 3:100; do
	[ "$(beats "${core%:*}")" -eq "${core#*:}" ] || fail "$(beats "${core%:*}") beats of core ${core%:*}, not ${core#*:}"
done
expect_rows out instants.csv 600 600
all_clean
