#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# riscv.sh TOP [FIRMWARE-FOLDER]: markers compile and link for bare RISC-V with nothing but themselves, names cost no
# loaded byte, and nothing that is written shares a page with code, in the images of FIRMWARE-FOLDER
# neither. Exit 77 = skipped, with the reason.
set -u
top=$1
markers=$top/firmware-markers
here=$1/tests/freestanding
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
. "$here/lib.sh"

# Pages of the ELF file's segments with these flags, in decimal, one a line.
pages() {
	"$readelf" -lW "$1" | awk '$1 == "LOAD" { f = ""; for (i = 7; i < NF; i++) f = f $i; print $3, $6, f }' |
		while read -r at bytes flags; do
			case $flags in
			*$2*)
				page=$((at / 4096))
				while [ $page -le $(((at + bytes - 1) / 4096)) ]; do
					echo $page
					page=$((page + 1))
				done
				;;
			esac
		done
}

check() {
	elf=$out/firmware.$1
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
	"$readelf" -SW "$out/marker.$1.o" | grep -E '\.(data|bss|sdata|sbss|rodata)' &&
		fail "$1: markers have data of their own"
	pages "$elf" E >"$out/code"
	[ -s "$out/code" ] || fail "$1: no page of code"
	pages "$elf" W | grep -xF -f "$out/code" && fail "$1: data in a page of code"
}

# Each name as the source has it, however the compiler reads templates of assembler code.
check_names() {
	sed -n 's/.*FLEXTRACE_MARK("\(.*\)");/\1/p' "$here/names.c" | sort >"$out/typed"
	"$readelf" -p .flextrace.names "$out/names.$1" | sed -n 's/^ *\[ *[0-9a-f]*\] *//p' |
		grep -v -e '^[0-9]*$' -e '/names\.c$' | sort >"$out/names"
	cmp "$out/typed" "$out/names" || fail "$1: names differ: $(tr '\n' ' ' <"$out/names")"
	return 0
}

for isa in $isas; do
	build $isa names 2>/dev/null && check_names $isa || fail "$isa: names do not build"
	if build $isa firmware; then
		check $isa
		echo "$isa: links alone"
	else
		fail "$isa: does not build"
	fi
done
for elf in "${2-}"/*.elf; do
	[ -e "$elf" ] || continue
	pages "$elf" E >"$out/code"
	if pages "$elf" W | grep -qxF -f "$out/code"; then
		fail "$elf: data in a page of code"
	else
		echo "$(basename "$elf"): no data beside code"
	fi
done
exit $bad
