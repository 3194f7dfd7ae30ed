# SPDX-License-Identifier: Apache-2.0
# lib.sh: the firmware of this folder for bare RISC-V, for the scripts beside it. The caller sets
# $top, $markers, $here and $out; $bad is 1 once something failed.
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
	return 1
}
for name in clang ld.lld llvm-nm llvm-readelf llvm-objdump; do
	tool $name >/dev/null || skip "$name is not installed"
done
clang=$(tool clang) nm=$(tool llvm-nm) readelf=$(tool llvm-readelf) objdump=$(tool llvm-objdump)
"$clang" --print-targets 2>/dev/null | grep -q riscv32 || skip "clang has no riscv target"

isas='rv32im rv32imac rv64imac'
target() { case $1 in rv32*) echo riscv32-unknown-elf ;; *) echo riscv64-unknown-elf ;; esac; }
abi() { case $1 in rv32*) echo ilp32 ;; *) echo lp64 ;; esac; }

# build ISA SOURCE: $out/SOURCE.ISA, linked with marker.c and nothing else; stack use of marker.c's
# functions is in $out/marker.ISA.su
build() {
	for part in "$here/$2.c" "$markers/marker.c"; do
		"$clang" --target="$(target "$1")" -march="$1" -mabi="$(abi "$1")" -mcmodel=medany \
			-ffreestanding -fno-builtin -O2 -std=c99 -ffunction-sections -Wall -Wextra -Werror -fstack-usage \
			-I"$markers/include" -I"$top/tracer/include" -I"$markers/ports/riscv/include" \
			'-DFLEXTRACE_AREA()=((struct flextrace_wire_area *)0x80400000)' \
			-c -o "$out/$(basename "$part" .c).$1.o" "$part" || return 1
	done

	"$clang" --target="$(target "$1")" -march="$1" -mabi="$(abi "$1")" -nostdlib -static \
		-fuse-ld=lld -Wl,--no-undefined -Wl,-Ttext=0x80000000 -o "$out/$2.$1" \
		"$out/$2.$1.o" "$out/marker.$1.o"
}
