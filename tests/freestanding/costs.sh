#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# costs.sh TOP code|run [--print]: what markers cost against costs.txt: `code` reads it off the
# compiled code, `run` counts executed instructions on QEMU. Whatever differs fails, smaller figures
# too, so that the file always holds the truth; --print prints the lines for it. The limits below are
# promises and hold with any compiler. Exit 77 = skipped, with the reason.
set -u
top=$1
mode=$2
markers=$top/firmware-markers
here=$top/tests/freestanding
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
. "$here/lib.sh"

# marker bytes instructions; on rv32im
limits='ts 16 4
kernel 16 4
mark 84 18
zone_begin 104 22'

# Bytes of a marker's function, and instructions up to its first ret, which is the fast path. Both
# without the ret.
code_of() {
	"$objdump" -d --disassemble-symbols="site_$2" "$out/firmware.$1" >"$out/dis"
	bytes=$("$nm" -S "$out/firmware.$1" | awk -v s="site_$2" '$4 == s { print $2 }')
	bytes=$((0x${bytes:-ffff} - $(awk -F: '/[[:space:]]ret$/ { split($2, c, "\t"); n = split(c[1], x, " "); print n; exit }' "$out/dis")))
	steps=$("$objdump" -d --no-show-raw-insn --disassemble-symbols="site_$2" "$out/firmware.$1" |
		awk '/^ *[0-9a-f]+:/ { if ($2 == "ret") exit; n++ } END { print n }')
	echo "code $1 $2 $bytes $steps"
}

# Bytes of stack below each function that a marker calls, calls within included.
stacks() {
	"$objdump" -dr "$out/marker.$1.o" | awk -v isa="$1" -v su="$out/marker.$1.su" '
		BEGIN { while ((getline line < su) > 0) { split(line, part, "\t"); n = split(part[1], name, ":"); own[name[n]] = part[2] } }
		/^[0-9a-f]+ <[a-z_]+>:$/ { gsub(/[<>:]/, "", $2); caller = $2 }
		/R_RISCV_CALL/ { sub(/[-+]0x.*/, "", $NF); called[caller] = called[caller] " " $NF }
		function depth(f,   list, n, i, d, most) {
			n = split(called[f], list, " ")
			for (i = 1; i <= n; i++) { d = depth(list[i]); if (d > most) most = d }
			return own[f] + most
		}
		END { for (f in own) if (f ~ /^flextrace_/) print "stack", isa, f, depth(f) }' | sort
}

code() {
	for isa in $isas; do
		build $isa firmware || { fail "$isa: does not build"; continue; }
		for marker in ts kernel fw_end mark zone_begin zone_end zone_begin_id zone_end_id value; do
			code_of $isa $marker
		done
		"$nm" -S "$out/marker.$isa.o" | while read -r _ bytes _ name; do
			echo "slow $isa $name $((0x$bytes))"
		done
		stacks $isa
	done
	echo 'char area[FLEXTRACE_WIRE_AREA_BYTES(1024)];' | "$clang" -I"$top/tracer/include" -xc - \
		-include flextrace/wire.h -c -o "$out/area.o"
	echo "area all of_1024_records $((0x$("$nm" -S "$out/area.o" | awk '{ print $2 }')))"
}

run() {
	for isa in $isas; do
		case $isa in
		rv32im) machine='qemu-system-riscv32 -cpu rv32,c=false,a=false,f=false,d=false' ;;
		rv32imac) machine='qemu-system-riscv32' ;;
		rv64imac) machine='qemu-system-riscv64' ;;
		esac
		build $isa firmware || { fail "$isa: does not build"; continue; }
		timeout 500 $machine -M virt -m 16M -smp 1 -bios "$out/firmware.$isa" -nodefaults \
			-display none -serial stdio -icount shift=0 </dev/null >"$out/counts" ||
			fail "$isa: QEMU failed"
		while read -r name more; do
			[ $((more % 1024)) -eq 0 ] || fail "$isa $name: not the same number each time"
			echo "run $isa $name $((more / 1024))"
		done <"$out/counts"
	done
}

if [ "$mode" = run ]; then
	for qemu in qemu-system-riscv32 qemu-system-riscv64; do
		command -v $qemu >/dev/null || skip "$qemu is not installed: executed instructions are not counted"
	done
fi
$mode >"$out/now"
if [ "${3-}" = --print ]; then
	cat "$out/now"
	exit $bad
fi
grep FAILED "$out/now" && bad=1

echo "$limits" | while read -r marker bytes steps; do
	awk -v m="$marker" -v b="$bytes" -v s="$steps" '
		$2 != "rv32im" || $3 != m { next }
		$1 == "code" && ($4 > b || $5 > s) || $1 == "run" && $4 > s { print "FAILED: limit is", b, "bytes,", s, "instructions:", $0; exit 1 }' "$out/now" || exit 1
done || bad=1

if ! "$clang" --version | grep -q "version $(sed -n 's/^# clang \([0-9]*\).*/\1/p' "$here/costs.txt")\."; then
	echo "costs.txt is of another clang: $("$clang" --version | head -n 1) is held to the limits only"
	exit $bad
fi
awk -v modes="$(cut -d' ' -f1 "$out/now" | sort -u | tr '\n' ' ')" '
	function differs(key, from, to) {
		if (!bad++) printf "%-44s %10s %10s\n", "", "before", "now"
		printf "%-44s %10s %10s\n", key, from, to
	}
	/^#/ || NF < 4 { next }
	{ key = $1 " " $2 " " $3; figures = $4 (NF > 4 ? " " $5 : "") }
	FNR == NR { if (index(modes, $1 " ")) before[key] = figures; next }
	!(key in before) { differs(key, "-", figures); next }
	before[key] != figures { differs(key, before[key], figures) }
	{ delete before[key] }
	END {
		for (key in before) differs(key, before[key], "-")
		exit bad > 0
	}' "$here/costs.txt" "$out/now" || {
	fail "costs differ from tests/freestanding/costs.txt (above). If that is meant: costs.sh TOP $mode --print"
}
[ $bad -eq 0 ] && echo "$(wc -l <"$out/now") figures are those of costs.txt"
exit $bad
