#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# riscv.sh TOP: markers compile and link for bare RISC-V with nothing but themselves, names cost no
# loaded byte, and each marker stays within its size. Exit 77 = skipped, with the reason.
set -u
markers=$1/firmware-markers
here=$1/tests/freestanding
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
bad=0

skip() {
	echo "skipped: $1"
	exit 77
}
fail() {
	echo "FAILED: $1"
	bad=1
}
# Debian names these with and without their version.
tool() {
	for name in "$1" "$1-14" "$1-15" "$1-16" "$1-17" "$1-18" "$1-19"; do
		command -v "$name" && return
	done
	skip "$1 is not installed"
}

clang=$(tool clang) || { echo "$clang"; exit 77; }
nm=$(tool llvm-nm) || { echo "$nm"; exit 77; }
readelf=$(tool llvm-readelf) || { echo "$readelf"; exit 77; }
objdump=$(tool llvm-objdump) || { echo "$objdump"; exit 77; }
lld=$(tool ld.lld) || { echo "$lld"; exit 77; }
"$clang" --print-targets 2>/dev/null | grep -q riscv32 || skip "clang has no riscv target"

# at_most ISA SYMBOL BYTES INSTRUCTIONS: size of the function, and instructions up to its first ret,
# which is the fast path. Both without the ret.
at_most() {
	elf=$out/firmware.$1
	bytes=$("$nm" -S "$elf" | awk -v s="$2" '$4 == s { print $2 }')
	bytes=$((0x${bytes:-ffff} - $("$objdump" -d --disassemble-symbols="$2" "$elf" |
		awk -F: '/[[:space:]]ret$/ { split($2, c, "\t"); n = split(c[1], x, " "); print n; exit }')))
	steps=$("$objdump" -d --no-show-raw-insn --disassemble-symbols="$2" "$elf" |
		awk '/^ *[0-9a-f]+:/ { if ($2 == "ret") exit; n++ } END { print n }')
	echo "$1: $2 $bytes bytes, $steps instructions"
	[ "$bytes" -le "$3" ] || fail "$1: $2 has $bytes bytes, allowed are $3"
	[ "$steps" -le "$4" ] || fail "$1: $2 takes $steps instructions, allowed are $4"
}

# build ISA TARGET ABI
build() {
	elf=$out/firmware.$1
	"$clang" --target="$2"-unknown-elf -march="$1" -mabi="$3" -mcmodel=medany -ffreestanding \
		-nostdlib -fno-builtin -static -fuse-ld=lld -O2 -std=c99 -Wall -Wextra -Werror \
		-Wl,--no-undefined -Wl,-Ttext=0x80000000 -o "$elf" \
		-I"$markers/include" -I"$markers/ports/riscv/include" \
		'-DFLEXTRACE_AREA()=((struct flextrace_wire_area *)0x80400000)' \
		"$here/firmware.c" "$markers/marker.c" || { fail "$1: does not build"; return; }

	[ -z "$("$nm" --undefined-only "$elf")" ] || fail "$1: undefined symbols"
	"$nm" "$elf" | grep -E '__(atomic|sync|mul|div|udiv|ashl|lshr)|mem(cpy|set)' &&
		fail "$1: needs a library"
	"$readelf" -S -W "$elf" | grep -F .flextrace.names | grep -qE ' 0+ +[0-9a-f]+ [0-9a-f]+ 00 +[0-9]' ||
		fail "$1: the section of names is missing, or loaded"
	"$readelf" -p .flextrace.names "$elf" | grep -q 'a zone' || fail "$1: a name is missing"
	"$readelf" -l -W "$elf" | grep -E '^ +[0-9]+ .*flextrace.names' &&
		fail "$1: names are in a segment"
	"$objdump" -d "$elf" | grep -qE '[[:space:]](lr|sc|amo[a-z]+)\.[wd]' &&
		fail "$1: atomic instructions"
	return 0
}

build rv32im riscv32 ilp32
build rv32imac riscv32 ilp32
build rv64imac riscv64 lp64

at_most rv32im site_ts 16 4
at_most rv32imac site_ts 16 4
at_most rv64imac site_ts 16 5 # this area's address takes two instructions there
for isa in rv32im rv32imac rv64imac; do
	at_most $isa site_mark 84 18
	at_most $isa site_zone_begin 104 22
	at_most $isa site_zone_end 104 22
	at_most $isa site_fw_end 32 8
	at_most $isa site_value 168 32
done
exit $bad
