#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# demo.sh BUILD: flextrace record of miniflex on two ranks; every file checked, device time held against the truth.
. "$(dirname "$0")/lib.sh"
cd "$LTTNG_TEST_DIR"
mkdir truth

"$FLEXTRACE" record --output=out -- "$MINIFLEX" --ranks=2 --iterations=120 --kernels=4 --counter-mhz=560,8000 --idle-ms=6 \
	--wrap-after-ms=400 --truth=truth >record.log 2>&1 ||
	{ cat record.log; fail "record failed"; }
grep -q 'all results right' record.log || { cat record.log; fail "the program's output did not pass through"; }
check_output out

trace=out/trace
bt2 "$trace" >text.txt
"$E2E/check_recording" out truth "$(epoch_offset "$trace")" <text.txt || fail "device times are wrong; see the line above"
grep -qx "records=$(grep -c ' flextrace:' text.txt)" books.txt ||
	{ cat books.txt; fail "babeltrace2 reads another number of records"; }

[ ! -e out/tables/losses.csv ] || { cat out/tables/losses.csv; fail "something was lost"; }
for table in host events kernels runtime active stamps iterations loops clocks alignment; do
	[ -s "out/tables/$table.csv" ] || fail "$table.csv is missing or empty"
done
# What one opens: small, and right where there is a browser.
[ "$(wc -c <out/report.html)" -le 1500000 ] || fail "report.html has $(wc -c <out/report.html) bytes"
python=$(command -v /usr/bin/python3 || command -v python3 || true)
if [ -n "$python" ]; then
	code=0
	PYTHONDONTWRITEBYTECODE=1 "$python" "$SOURCE/tests/report/check_report.py" out "$BUILD/report-pictures/demo" >page.txt || code=$?
	[ "$code" -eq 0 ] || [ "$code" -eq 77 ] || { cat page.txt; fail "report.html is wrong"; }
fi
# A forked rank is its own process: two ranks, two pids, in every table that has both.
pids=$(awk -F, 'NR > 1 { print $1 ":" $3 }' out/tables/host.csv | sort -u | wc -l)
[ "$pids" -eq 2 ] || fail "host.csv shows $pids processes, not 2 ranks"
grep -q '"ph":"s"' out/trace.json || fail "no flow arrow"
# No zone of the firmware is shown as a number.
! awk -F, '$7 == "Zone" && $8 ~ /^(marker )?(0x)?[0-9a-f]+$/ { bad = 1; print } END { exit !bad }' out/tables/events.csv ||
	fail "a firmware zone has no name"

# What is left of it by filters, and files of single ranks, are as good as the whole.
"$FLEXTRACE" convert --quiet -o part "$trace" --ranks=1 --time-range=+1us, --drop='kind:^(Prep|Zone)$' --overlap=async ||
	fail "a part cannot be converted"
check_output part
[ "$(awk -F, 'NR > 1 { print $1 }' part/tables/events.csv | sort -u)" = 1 ] || fail "--ranks=1 leaves another rank"
grep -q '"filtered_rows"' part/run.json || fail "what was left out is not told"
"$FLEXTRACE" convert --quiet -o ranks "$trace" --per-rank || fail "ranks cannot be converted"
check_output ranks
if command -v python3 >/dev/null; then
	python3 "$SOURCE/tests/scripts/check_ranks.py" ranks >ranks.txt || { cat ranks.txt; fail "a file of a rank is bad"; }
	[ "$(grep -c 'rank [01] of 2, 120 steps, [0-9]* kernels, [1-9][0-9]* collectives' ranks.txt)" -eq 2 ] ||
		{ cat ranks.txt; fail "a rank lacks its steps or collectives"; }
	"$FLEXTRACE" convert --quiet -o hta "$trace" --compat=hta || fail "ranks cannot be converted for HTA"
	python3 "$SOURCE/tests/scripts/check_hta.py" hta || fail "HTA would count a rank wrong"
fi
