#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# twice.sh BUILD: record --twice runs a program without and with records of the device, and stitches the two together.
. "$(dirname "$0")/lib.sh"
cd "$LTTNG_TEST_DIR"

"$FLEXTRACE" record --twice -o out -- "$MINIFLEX" --ranks=2 --iterations=3 >app.log 2>log || { cat log; fail "record failed"; }
check_output out/without-device
"$BUILD/tests/check_csv" out || fail "a CSV file is bad"
[ ! -e out/without-device/tables/events.csv ] || fail "the first run has records of the device"
[ "$(wc -l <out/tables/events.csv)" -gt 10 ] || fail "the second run has no records of the device"

# Each host interval of both runs is in the table once.
n_without=$(($(wc -l <out/without-device/tables/host.csv) - 1)) n_with=$(($(wc -l <out/tables/host.csv) - 1))
awk -F, -v n_without="$n_without" -v n_with="$n_with" 'NR > 1 { n[$5]++ }
	$5 == "both" && $11 != $10 - $9 { print "wrong cost: " $0; exit 1 }
	END { exit n["both"] + n["with"] != n_with || n["both"] + n["without"] != n_without || !n["both"] }' out/tables/twice.csv ||
	fail "twice.csv has not the intervals of host.csv: $n_without, $n_with"
# A launch has its device time beside its time without the device.
awk -F, '$3 == "launch control blocks" && $5 == "both" && $9 > 0 && $12 > 0 && $13 > 0 { n++ }
	END { exit n < 3 }' out/tables/twice.csv || fail "launches have no device times"
grep -q 'twice: [1-9][0-9]* host intervals of both runs took' log || fail "no summary: $(cat log)"
grep -Eq 'twice: the difference is (more than )?noise, [+-][0-9]+ ns \+- [0-9]+ ns for each' log || fail "noise is not told: $(cat log)"
"$FLEXTRACE" diff out/without-device out >diff || fail "diff failed"
grep -q 'Op\|User: \|launch control blocks' diff || fail "diff has no names: $(cat diff)"

# A program that does less in its second run: what is in one run only is counted.
cat >app.sh <<END
if [ -e ran ]; then exec "$MINIFLEX" --ranks=1 --iterations=1; fi
touch ran
exec "$MINIFLEX" --ranks=1 --iterations=2
END
"$FLEXTRACE" record --twice -o less -- sh app.sh >app.log 2>log || { cat log; fail "record failed"; }
n=$(awk -F, '$5 == "without"' less/tables/twice.csv | wc -l)
[ "$n" -gt 5 ] || fail "only $n intervals are without one in the second run"
grep -q "in one run only: $n without" log || fail "the summary does not tell $n: $(cat log)"

# What cannot be: no command, in a job, a directory that is taken, a first run that fails.
code=0
"$FLEXTRACE" record --twice -o never 2>log || code=$?
{ [ $code -eq 1 ] && grep -q 'needs a command' log; } || fail "without a command: $code, $(cat log)"
code=0
OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_SIZE=2 PMIX_NAMESPACE=j OMPI_MCA_ess_base_jobid=7 \
	"$FLEXTRACE" record --twice -o never -- true 2>log || code=$?
{ [ $code -eq 1 ] && grep -q 'in front of the launcher' log; } || fail "in a job: $code, $(cat log)"
code=0
"$FLEXTRACE" record --twice -o out -- true 2>log || code=$?
{ [ $code -eq 4 ] && grep -q 'There is a recording already' log; } || fail "a directory that is taken: $code, $(cat log)"
code=0
"$FLEXTRACE" record --twice -o failed -- sh -c "'$MINIFLEX' --iterations=1 >/dev/null; exit 7" 2>log || code=$?
{ [ $code -eq 7 ] && [ ! -e failed/trace ]; } || fail "a first run that fails: $code, $(ls failed)"
[ ! -e never ] || fail "something was left behind"
