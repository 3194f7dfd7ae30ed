#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# programs.sh FLEXTRACE VICTIM: programs that die, multiply, or end where nobody expects it, are shown as far as they came.
. "$(dirname "$0")/lib.sh"
VICTIM=$PROGRAM

# count DIR FILE COLUMN VALUE: rows with that value.
count() {
	awk -F, -v name="$3" -v value="$4" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
		$at == value { n++ } END { print n + 0 }' "$1/tables/$2"
}

# processes DIR: how many pids have rows in host.csv.
processes() {
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "pid") at = i; next } { print $at }' "$1/tables/host.csv" | sort -u | wc -l
}

# Killed, and crashed: what was done before is there, and the phase it was in.
for way in kill:137 crash:139; do
	dir=${way%:*}
	run "${way#*:}" "$FLEXTRACE" record -o "$dir" -- "$VICTIM" "$dir"
	[ "$(count "$dir" host.csv name work)" -eq 5 ] || fail "$dir: $(count "$dir" host.csv name work) scopes, not 5"
	[ "$(count "$dir" host.csv name phase)" -eq 1 ] || fail "$dir: the open phase is not shown"
	[ "$(count "$dir" losses.csv cause unmatched_begin)" -eq 1 ] || fail "$dir: the open phase is not counted"
	all_clean
done

# A process for each child; one that runs another program has all of both.
run 0 "$FLEXTRACE" record -o fork -- "$VICTIM" fork
expect_rows fork host.csv 8 8
[ "$(processes fork)" -eq 4 ] || fail "$(processes fork) processes, not 4"
run 0 "$FLEXTRACE" record -o exec -- "$VICTIM" exec
expect_rows exec host.csv 10 10
[ "$(processes exec)" -eq 4 ] || fail "$(processes exec) processes, not 4"

# A thread ends the program; thousands of threads come and go.
run 7 "$FLEXTRACE" record -o exit -- "$VICTIM" exit
[ "$(count exit host.csv name work)" -eq 4 ] || fail "$(count exit host.csv name work) scopes, not 4"
run 0 "$FLEXTRACE" record -o threads -- "$VICTIM" threads
expect_rows threads host.csv 5000 5000

# Several at once, one of which dies.
run 0 "$FLEXTRACE" record -o several -- sh -c '"$0" fork & "$0" kill & "$0" fork & wait' "$VICTIM"
[ "$(count several host.csv name work)" -eq 21 ] || fail "$(count several host.csv name work) scopes, not 21"
[ "$(processes several)" -eq 9 ] || fail "$(processes several) processes, not 9"
all_clean
