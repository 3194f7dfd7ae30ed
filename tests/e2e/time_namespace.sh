#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# time_namespace.sh BUILD: two ranks, two host clocks on one machine. Rank 1 runs in a time namespace whose
# CLOCK_MONOTONIC is ahead by a known time, with a session daemon of its own.
. "$(dirname "$0")/lib.sh"
cd "$LTTNG_TEST_DIR"
AHEAD_S=5000

# elsewhere COMMAND [ARGUMENT...]: in the other time namespace, away from the first rank's daemons.
elsewhere() {
	unshare --mount --propagation private --time --monotonic "$AHEAD_S" --fork --kill-child sh -c '
		mount -t tmpfs tmpfs /run/lttng && mount -t tmpfs -o size=512m,mode=1777 tmpfs /dev/shm && exec "$@"' sh "$@"
}
elsewhere true 2>refused.txt || { echo "skipped: no time namespace: $(head -n 1 refused.txt)"; exit 77; }

# record_both NAME MINIFLEX_OPTION...: two recordings at the same time, converted together.
record_both() {
	name=$1
	shift
	mkdir "$name" "$name/truth"
	elsewhere "$FLEXTRACE" record --output="$name/rank1" -- "$MINIFLEX" --ranks=2 --rank=1 --quiet \
		--truth="$name/truth" "$@" >"$name/rank1.log" 2>&1 &
	"$FLEXTRACE" record --output="$name/rank0" -- "$MINIFLEX" --ranks=2 --rank=0 --quiet \
		--truth="$name/truth" "$@" >"$name/rank0.log" 2>&1 || { cat "$name/rank0.log"; fail "$name: record failed"; }
	wait $! || { cat "$name/rank1.log"; fail "$name: record in the namespace failed"; }
	"$FLEXTRACE" convert --quiet --output-dir="$name/out" "$name/rank0/trace" "$name/rank1/trace" ||
		fail "$name: convert failed"
	check_output "$name/out"
}

# Daemons that have their sockets elsewhere are nobody's that died.
"$FLEXTRACE" start -o outside >/dev/null 2>&1 || fail "no recording outside"
elsewhere "$FLEXTRACE" record --no-convert --quiet -o inside -- "$MINIFLEX" --iterations=1 --quiet >inside.log 2>&1 ||
	{ cat inside.log; fail "the consumer daemon of another namespace is in the way"; }
"$FLEXTRACE" stop --no-convert outside >/dev/null 2>&1 || [ $? -eq 2 ] # nothing was recorded there

# column FILE RANK COLUMN: of the first line of that rank.
column() {
	awk -F, -v rank="$2" -v column="$3" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["rank"] == rank { print $at[column]; exit }' "$1"
}

# A program on another clock than the recorder's: its rows are where they belong, and that is said.
before=$(date +%s)
"$FLEXTRACE" record --quiet --output=away -- unshare --time --monotonic 100000 --fork --kill-child \
	"$MINIFLEX" --iterations=5 --quiet >away.log 2>&1 || { cat away.log; fail "record of a program elsewhere failed"; }
after=$(date +%s)
grep -q '"not_the_recorders_clock"' away/run.json || fail "run.json does not warn of another clock"
awk -F, -v before="$before" -v after="$after" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ s = substr($at["start_ns"], 1, 10); n++; if (s < before - 1 || s > after + 1) { print s, before, after; bad = 1 } }
	END { exit bad || n < 10 }' away/tables/events.csv || fail "work of another time namespace is not where it belongs"

# Without anything that ties the clocks: said, and nothing of rank 1 is called certain.
record_both apart --iterations=10
[ "$(column apart/out/tables/alignment.csv 0 component)" = 0 ] || fail "rank 0 is not the reference"
[ "$(column apart/out/tables/alignment.csv 1 component)" -gt 0 ] || fail "two clocks without a common event were merged"
[ -z "$(column apart/out/tables/alignment.csv 1 half_width_ns_max)" ] || fail "an offset without evidence has a bound"
grep -q '"unaligned_hosts"' apart/out/run.json || fail "run.json does not warn of unaligned hosts"
"$FLEXTRACE" report apart/out | grep -q 'not aligned' || fail "the report does not tell"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { n[$at["rank"], $at["status"]]++ }
	END { exit !(n[0, "certified"] > 100 && n[1, "assumed"] > 100 && !n[1, "certified"]) }' apart/out/tables/events.csv ||
	fail "events.csv has another status than certified for rank 0, assumed for rank 1"

# All-reduces tie them: the offset is the known one, device times are right on both ranks, and nobody leaves an
# all-reduce before the other entered it.
record_both together --iterations=60 --idle-ms=20 --counter-mhz=560,8000 --wrap-after-ms=700 --join="$PWD/meeting"
[ "$(column together/out/tables/alignment.csv 1 component)" = 0 ] || fail "all-reduces did not align the hosts"
! grep -q '"unaligned_hosts"' together/out/run.json || fail "aligned hosts are warned of"
bound=$(column together/out/tables/alignment.csv 1 half_width_ns_max)
column together/out/tables/alignment.csv 1 offset_ns | awk -v ahead="$AHEAD_S" -v bound="$bound" '{
	error = $1 + ahead * 1e9; if (error < 0) error = -error; print "error of the offset: " error " ns, bound " bound " ns"
	exit error > bound }' || fail "the offset is wrong"

bt2 together/rank0/trace together/rank1/trace >text.txt
"$E2E/check_recording" together/out together/truth "$(epoch_offset together/rank0/trace)" "${AHEAD_S}000000000" \
	<text.txt || fail "device times are wrong; see the line above"

# Times without the leading digits, which awk's numbers have no room for.
awk -F, -v bound="$bound" '$7 == "all_reduce" { match($0, /seq"":[0-9]+/); seq = substr($0, RSTART, RLENGTH)
		enter = substr($10, 5) + 0; left = substr($11, 5) + 0; n[seq]++
		if (!(seq in last) || enter > last[seq]) last[seq] = enter
		if (!(seq in first) || left < first[seq]) first[seq] = left }
	END { for (seq in n) { total++; if (n[seq] != 2 || last[seq] > first[seq] + bound) { print seq, last[seq] - first[seq]; bad = 1 } }
		exit bad || total != 60 }' together/out/tables/host.csv || fail "an all-reduce was left before it was entered"
