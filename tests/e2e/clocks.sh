#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# clocks.sh BUILD: counters per core, drift, steps of the rate, other rates per rank and pauses of several wraps, held
# against the truth.
. "$(dirname "$0")/lib.sh"
cd "$LTTNG_TEST_DIR"

# judge NAME MINIFLEX_OPTION...: a recording of two ranks with four counters each.
judge() {
	name=$1
	shift
	mkdir "truth-$name"
	"$FLEXTRACE" record --output="$name" -- "$MINIFLEX" --ranks=2 --cores=4 --clocks=core --wrap-after-ms=600 \
		--truth="truth-$name" --quiet "$@" >record.log 2>&1 || { cat record.log; fail "$name: record failed"; }
	check_output "$name"
	[ ! -e "$name/tables/losses.csv" ] || { cat "$name/tables/losses.csv"; fail "$name: something was lost"; }
	bt2 "$name/trace" >text.txt
	printf '%s: ' "$name"
	"$E2E/check_recording" "$name" "truth-$name" "$(epoch_offset "$name/trace")" <text.txt >verdict.txt ||
		{ cat verdict.txt; fail "$name: device times are wrong; see the line above"; }
	cat verdict.txt
	grep -q ' counters=8 ' verdict.txt || fail "$name: not every core had a counter of its own"
}

# rates NAME LOW HIGH: every counter is one segment without a reset, and the rate that was found allows one from
# LOW to HIGH ppm off nominal; rank 1 is 3 ppm faster.
rates() {
	awk -F, -v low="$2" -v high="$3" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ ppm = $at["ppm_vs_nominal"] - 3 * $at["rank"]; ci = $at["ci_ppm"]; n++ }
		$at["resets"] != 0 || ci == "" || ppm + ci < low || ppm - ci > high { bad = 1; print }
		END { exit bad || n != 8 }' "$1/tables/clocks.csv" || fail "$1: clocks.csv is wrong; see above"
}

judge drift --iterations=40 --counter-mhz=560,8000 --drift-ppb=-25000 --idle-ms=30
rates drift -25 -25

# 8 ppm: within what the rate of a crystal may wander.
judge step --iterations=60 --counter-mhz=560,8000 --drift-ppb=5000 --drift-step=1500:13000 --idle-ms=50
rates step 5 13

# 300 ppm: what a change of the frequency does. It is followed, and told.
judge leap --iterations=60 --counter-mhz=560,8000 --drift-ppb=5000 --drift-step=1500:305000 --idle-ms=50
rates leap 5 305
grep -q rate_step leap/run.json || fail "leap: no warning of the step"

judge dense-leap --iterations=400 --kernels=4 --counter-mhz=560,8000 --drift-ppb=5000 --drift-step=800:305000 --idle-ms=3
rates dense-leap 5 305
grep -q rate_step dense-leap/run.json || fail "dense-leap: no warning of the step"

judge gaps --iterations=6 --counter-mhz=560,8000 --idle-ms=1500 # rank 1 wraps every 0.54 s
rates gaps 7 7
