#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cli_compiler.sh FLEXTRACE CHECKERS SHARED: Flex's JSON and the compiler's logs become categories, ideal cycles and
# utilisation: of two ranks made here, and of a real network where its files lie in SHARED.
set -eu
FLEXTRACE=$1
CHECKERS=$2
SHARED=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

fail() {
	echo "FAIL: $*" >&2
	exit 1
}

# kernel RANK NAME US CYCLES: one event at $us, on a counter of 500 MHz.
kernel() {
	printf '{"ph":"X","pid":%s,"tid":7,"name":"%s Cmpt Exec","ts":%s.000,"dur":%s.000,"args":{' "$1" "$2" "$us" "$3"
	printf '"TS1":"%s","TS2":"%s","TS3":"%s","TS4":"%s","TS5":"%s"}},\n' $ts $ts $ts $((ts + $4)) $((ts + $4))
	us=$((us + $3 + 10))
	ts=$((ts + $4 + 5000))
}

# Ten turns of the same two kernels.
ranks() {
	for rank in 0 1; do
		us=1000000
		ts=5000
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			kernel $rank conv 100 50000
			kernel $rank add_1 50 25000
		done
	done
}

# log CYCLES: what the compiler says of them.
log() {
	echo '[DeepRT] ===== Perf BEGIN ====='
	echo 'DECODING'
	echo '~~~~ Ideal/Total Cycles ~~~~'
	echo 'Name                          Ideal Cy.'
	echo "conv-opCatConv_fp16           $1  "
	echo 'add_1-opCatBroadcast          0   '
	printf 'Total\t\t\t%s\n' "$1"
	echo '====== Perf Summary End ======'
}

# known DIR RANK: lines of categories.csv as on stdin: category, calls, us (within 0.02), ideal cycles, utilisation.
known() {
	while read -r category calls us ideal util; do
		[ "$util" = none ] && util=
		awk -F, -v rank="$2" -v category="$category" -v calls="$calls" -v us="$us" -v ideal="$ideal" -v util="$util" '
			$1 == rank && $3 == category {
				d = $5 / 1000 - us
				ok = $4 == calls && d < 0.02 && d > -0.02 && $10 == ideal && $13 "" == util ""
			}
			END { exit !ok }' "$1/tables/categories.csv" || { cat "$1/tables/categories.csv"; fail "$category is not as known"; }
	done
}

# expect FILE LINE: that the file has.
expect() {
	grep -qxF "$2" "$1" || { cat "$1"; fail "$1 has no line $2"; }
}

check() {
	for tool in check_csv check_run check_trace; do
		case $tool in
		check_trace) "$CHECKERS/$tool" "$1/trace.json" >log.$tool || { cat log.$tool; fail "$1: $tool"; } ;;
		*) "$CHECKERS/$tool" "$1" >log.$tool || { cat log.$tool; fail "$1: $tool"; } ;;
		esac
	done
}

{ echo '['; ranks; echo '{"ph":"M","pid":0,"name":"process_name","args":{"name":"x"}}]'; } >trace.json
log 40000 >log.0
log 20000 >log.1
"$FLEXTRACE" convert --quiet --formats chrome,csv,text --compiler-info log.0,log.1 --freq 500:1000 -o out trace.json
check out
known out 0 <<END
Conv_fp16 10 1000 400000 0.4000
Broadcast 10 500 0 0.0000
other 0 0 0 none
Total 20 1500 400000 0.2667
END
known out 1 <<END
Conv_fp16 10 1000 200000 0.2000
Total 20 1500 200000 0.1333
END
expect out/tables/compiler.csv 0,0,0,decoding,0,2,40000,10,20,0,1.000,1.000,0
expect out/tables/compiler.csv 1,1,0,decoding,0,2,20000,10,20,0,1.000,1.000,0
[ "$(grep -c ',Conv_fp16,[A-Z_]*,,,40000,0.4000,' out/tables/events.csv)" = 10 ] || fail "events.csv has no ten kernels of rank 0"
[ "$(grep -c '"category":"Conv_fp16","ideal_cycles":20000,"pt_util":0.2,' out/trace.json)" = 10 ] ||
	fail "trace.json has no ten kernels of rank 1"
[ "$(grep -c 'PT Active' out/tables/counters.csv)" = 40 ] || fail "counter PT Active"
! grep '"id":.*\(compiler\|pt_util\)' out/run.json || fail "there are warnings"

# With the autopilot on, kernels take a hundredth; their times are those of the run above.
{ echo '['; us=1000000 ts=5000; kernel 0 conv 1 500; kernel 0 add_1 1 500; kernel 0 new 4 2000; } | sed '$s/,$/]/' >pilot.json
{ echo '===== DSM-AutoPilot BEGIN ====='; log 40000; } >log.pilot
"$FLEXTRACE" convert --quiet --formats chrome,csv,text --compiler-info log.pilot --freq 500:1000 --kernels-from out -o pilot pilot.json
check pilot
known pilot 0 <<END
Conv_fp16 1 100 40000 0.4000
Broadcast 1 50 0 0.0000
other 1 4 0 0.0000
Total 3 154 40000 0.2597
END
expect pilot/tables/compiler.csv 0,0,0,decoding,1,2,40000,1,2,2,0.889,0.889,0
grep -q ',Conv_fp16,[A-Z_]*,,,40000,0.4000,' pilot/tables/events.csv || fail "utilisation of the autopilot's kernel"
grep -q '"category":"Conv_fp16","ideal_cycles":40000,"pt_util":0.4,' pilot/trace.json || fail "the same in trace.json"
grep -q '^Exec,conv,1,10[0-9][0-9],' pilot/tables/kernels.csv || fail "kernels.csv is not as measured"
grep -A1 '"kernel_times_missing"' pilot/run.json | grep -qw 1 || fail "one kernel has no time"
grep -qE '"kernels-from":[[:space:]]*"out"' pilot/run.json || fail "run.json does not tell where times are from"

# refused MESSAGE ARGUMENT...: nothing is read or written.
refused() {
	message=$1
	shift
	! "$FLEXTRACE" convert --quiet -o refused "$@" pilot.json 2>log.refused || fail "$* is not refused"
	grep -qF "$message" log.refused || { cat log.refused; fail "no message: $message"; }
	[ ! -e refused ] || fail "$* left something behind"
}
mkdir -p empty
refused "path=empty, reason=it has no kernels.csv" --compiler-info log.pilot --kernels-from empty
refused "path=none, reason=No such file" --compiler-info log.pilot --kernels-from none
refused "the autopilot was on in that run, too" --compiler-info log.pilot --kernels-from pilot
refused "needs \`compiler-info\`" --kernels-from out

# One log for all; the compute clock is too slow to be true.
"$FLEXTRACE" convert --quiet --compiler-info log.0 --freq 500:100 -o fast trace.json
check fast
grep -A1 '"pt_util_over_100"' fast/run.json | grep -qw 20 || fail "20 kernels are too fast"

# Nothing asked for, nothing said.
"$FLEXTRACE" convert --quiet -o plain trace.json
check plain
[ ! -e plain/tables/categories.csv ] || fail "categories without a compiler"

sample=$SHARED/flex-json
if [ ! -f "$sample/sample_comp_log_ideal.txt" ]; then
	echo "no real network in $sample: only made ones were checked"
	exit 0
fi
"$FLEXTRACE" convert --quiet --compiler-info "$sample/sample_comp_log_ideal.txt" --freq 557.05:1000 -o real \
	"$sample/sample_flex_3062_job_4.json"
check real
cat >real.known <<END
Conv_fp16 7 889.714 439040 0.4935
Broadcast 3 842.976 0 0.0000
Scalar 2 355.078 0 0.0000
ConvOs1_fp16 1 353.545 115248 0.3260
Pooling 2 193.715 0 0.0000
Bmm_fp16 1 66.867 2048 0.0306
StcdpLx 1 0.470 0 0.0000
Total 17 2702.364 556336 0.2059
END
known real 0 <real.known

# The same network as if by the autopilot, with the times of the run above.
{ echo '===== DSM-AutoPilot BEGIN ====='; cat "$sample/sample_comp_log_ideal.txt"; } >log.real
"$FLEXTRACE" convert --quiet --compiler-info log.real --freq 557.05:1000 --kernels-from real -o real_pilot \
	"$sample/sample_flex_3062_job_4.json"
check real_pilot
known real_pilot 0 <real.known
awk -F, 'NR > 1 && ($5 != 1 || $9 != $10) { exit 1 }' real_pilot/tables/compiler.csv || fail "times of the other run are not taken"
echo "all as known"
