#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# markers.sh TOP: marker.h with the posix port. In C++, markers in inline functions, templates, lambdas and two files have their
# names; in C and C++, a capacity that no ring has does not compile, and one that is known at run time does.
set -u
top=$1
markers=$top/firmware-markers
here=$top/tests/headers
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
include="-I$markers/include -I$top/tracer/include -I$markers/ports/posix/include"
warnings='-Wall -Wextra -Wshadow -Wconversion -Wundef -pedantic -Werror'
failed=0
n=0

fail() {
	echo "FAILED: $*"
	failed=1
}

cat >"$out/capacity.c" <<'END'
#include <flextrace/marker.h>
void init(struct flextrace_wire_area *area, uint32_t capacity);
void init(struct flextrace_wire_area *area, uint32_t capacity)
{
	(void)capacity;
	FLEXTRACE_FW_INIT(0, 0, 0, CAPACITY, FLEXTRACE_WIRE_STOP);
	FLEXTRACE_FW_INIT_IN(area, 0, 0, 0, CAPACITY, FLEXTRACE_WIRE_STOP);
}
END
cp "$out/capacity.c" "$out/capacity.cc"

capacities() { # COMPILER SOURCE FLAG: what must compile, then what must not
	for capacity in 4 1024 '1u << 24' 'sizeof(int) * 4' capacity; do
		n=$((n + 1))
		$1 $3 $include $warnings "-DCAPACITY=$capacity" -c -o "$out/capacity.o" "$out/$2" || fail "$1 $3: capacity $capacity does not compile"
	done
	for capacity in 0 2 1000 -4 '1 << 25' '1ull << 32'; do
		n=$((n + 1))
		$1 $3 $include "-DCAPACITY=$capacity" -c -o "$out/capacity.o" "$out/$2" 2>/dev/null && fail "$1 $3: capacity $capacity compiles"
	done
}

program() { # C COMPILER, C++ COMPILER, FLAGS...
	cc=$1 cxx=$2
	shift 2
	n=$((n + 1))
	$cc $include -O1 -c -o "$out/marker.o" "$markers/marker.c" && $cc $include -O1 -c -o "$out/port.o" "$markers/ports/posix/port_posix.c" &&
		$cxx "$@" $include $warnings -I"$here" -c -o "$out/main.o" "$here/markers.cc" &&
		$cxx "$@" $include $warnings -I"$here" -DELSEWHERE -c -o "$out/elsewhere.o" "$here/markers.cc" &&
		$cxx "$@" -o "$out/program" "$out/main.o" "$out/elsewhere.o" "$out/marker.o" "$out/port.o" &&
		"$out/program" || fail "$cxx $*"
}

for pair in gcc:g++ clang:clang++; do
	cc=${pair%:*} cxx=${pair#*:}
	if ! command -v "$cc" >/dev/null || ! command -v "$cxx" >/dev/null; then
		echo "$cc is not installed: left out"
		continue
	fi
	for std in c99 gnu17; do
		capacities "$cc" capacity.c -std=$std
	done
	for std in c++11 c++20; do
		capacities "$cxx" capacity.cc -std=$std
		for level in -O0 -O2; do
			program "$cc" "$cxx" -std=$std $level
			program "$cc" "$cxx" -std=$std $level -fPIC
		done
	done
done
[ $n -gt 0 ] || exit 77
echo "$n compilations"
exit $failed
