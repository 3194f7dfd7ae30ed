#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# porting.sh TOP: the port that docs/guides/porting.md shows, my_markers.h and port_armv7m.h of docs/examples, compiles
# and links, and the guide's tables say what costs.txt says. Exit 77 = skipped, with the reason.
set -u
top=$1
markers=$top/firmware-markers
here=$top/tests/freestanding
guide=$top/docs/guides/porting.md
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
. "$here/lib.sh"

"$clang" --print-targets | grep -qw arm || skip "clang has no arm target"
"$clang" --target=armv7m-none-eabi -mthumb -ffreestanding -fno-builtin -O2 -std=c99 -Wall -Wextra -Werror \
	-nostdlib -static -fuse-ld=lld -Wl,--no-undefined -Wl,-e,work -I"$top/docs/examples" -I"$markers/include" -I"$top/tracer/include" \
	'-DFLEXTRACE_CONFIG_HEADER="my_markers.h"' '-DFLEXTRACE_PORT_HEADER="port_armv7m.h"' \
	-o "$out/arm" "$here/traced.c" "$markers/marker.c" || fail "the guide's port does not build"
"$readelf" -p .flextrace.names "$out/arm" | grep -q step || fail "the guide's port loses names"
"$readelf" -S -W "$out/arm" | grep -F .flextrace.names | grep -qE ' 0+ +[0-9a-f]+ [0-9a-f]+ 00 +[0-9]' ||
	fail "the guide's port loads names"

figures() { awk -v k="$1" '$1 " " $2 " " $3 == k { print $4 " bytes, " $5 }' "$here/costs.txt"; }
executed() { awk -v k="run $1 $2" '$1 " " $2 " " $3 == k { print $4 }' "$here/costs.txt"; }
sum() { awk -v i="$1" '$1 == "slow" && $2 == i { n += $4 } END { print n }' "$here/costs.txt"; }
most() { awk -v i="$1" '$1 == "stack" && $2 == i && $4 > n { n = $4 } END { print n }' "$here/costs.txt"; }
row() { # row FIRST-COLUMN COMMAND ARGUMENT: the command is given each ISA
	line="| $1 |"
	for isa in $isas; do
		line="$line $($2 "$isa" "${3-}") |"
	done
	grep -qxF "$line" "$guide" || fail "the guide should say: $line"
}
code() { figures "code $1 $2"; }

row 'TS, KERNEL_START, KERNEL_END' code ts
for marker in mark zone_begin zone_end zone_begin_id zone_end_id value fw_end; do
	row "$(echo $marker | LC_ALL=C tr '[:lower:]' '[:upper:]')" code $marker
	for isa in $isas; do
		[ "$(code $isa $marker | sed 's/.* //')" = "$(executed $isa $marker)" ] ||
			fail "$isa $marker: executes another number of instructions than its code shows"
	done
done
row '`marker.c`, bytes of code' sum
row 'most stack that a marker takes, bytes' most
row 'FW_START, instructions' executed fw_start
row 'MARK that finds no room, instructions' executed mark_dropped
[ "$(awk '$1 == "area" { print $4 }' "$here/costs.txt")" -eq $((352 + 8 * 1024)) ] ||
	fail "the guide's size of an area is wrong"
[ $bad -eq 0 ] && echo "the guide's port builds, its tables are those of costs.txt"
exit $bad
