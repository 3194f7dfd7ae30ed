#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# qemu.sh BUILD: firmware on RISC-V cores under QEMU, recorded and converted. The counters of the cores were gated
# apart, each rank's run at another rate, and all are held against the truth, which comes from the host's own counter.
. "$(dirname "$0")/lib.sh"
cd "$LTTNG_TEST_DIR"

# judge NAME MINIFLEX_OPTION...: a recording of two ranks with four counters each.
judge() {
	name=$1
	shift
	mkdir "truth-$name"
	if ! "$FLEXTRACE" record --output="$name" -- "$MINIFLEX" --device=qemu --ranks=2 --cores=4 --clocks=core \
		--counter-mhz=560,800 --wrap-after-ms=1200 --truth="truth-$name" --quiet "$@" >record.log 2>&1; then
		if why=$(grep -m 1 -E 'not installed|no firmware image|counter is not the host|little-endian' record.log); then
			echo "skipped: $why"
			exit 77
		fi
		cat record.log
		fail "$name: record failed"
	fi
	check_output "$name"
	[ ! -e "$name/tables/losses.csv" ] || { cat "$name/tables/losses.csv"; fail "$name: something was lost"; }
	bt2 "$name/trace" >text.txt
	printf '%s: ' "$name"
	"$E2E/check_recording" "$name" "truth-$name" "$(epoch_offset "$name/trace")" <text.txt >verdict.txt ||
		{ cat verdict.txt; fail "$name: device times are wrong; see the line above"; }
	cat verdict.txt
	grep -q ' counters=8 ' verdict.txt || fail "$name: not every core had a counter of its own"
	grep -q ' outside_error=0 ' verdict.txt || fail "$name: a marker's true time is outside its error bar"
	# No zone of the firmware is shown as a number.
	! awk -F, '$7 == "Zone" && $8 ~ /^(marker )?(0x)?[0-9a-f]+$/ { bad = 1; print } END { exit !bad }' \
		"$name/tables/events.csv" || fail "$name: a firmware zone has no name"
}

judge rv32 --iterations=60 --idle-ms=25
judge rv64 --iterations=60 --idle-ms=25 --isa=rv64imac
