#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles a host that types every macro in each language version, with gcc and clang, enabled and
# disabled, with the strictest warnings. Usage: compile_matrix.sh TOP
set -u
top=$1
here=$top/tests/headers
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
include="-I$top/tracer/include"
warnings="-Wall -Wextra -Wshadow -Wconversion -Wmissing-field-initializers -Wundef -pedantic -Werror"
failed=0
n=0

compile() { # compiler, source, flags...
	compiler=$1 source=$2
	shift 2
	n=$((n + 1))
	if ! $compiler $include $warnings "$@" -c "$here/$source" -o "$work/$n.o" 2>"$work/err"; then
		echo "FAILED: $compiler $* $source"
		cat "$work/err"
		failed=1
	elif readelf -Ws "$work/$n.o" | awk '$6 == "HIDDEN" && $7 == "UND" && $8 !~ /flextrace/' | grep .; then
		echo "FAILED: $compiler $* $source looks for a symbol of a library in itself"
		failed=1
	fi
}

# compile_all COMPILER++ FLAGS: each version at one optimisation, by turns.
matrix() { # C compiler, C++ compiler, on or off flag
	for std in c99 c11 c17 c2x; do
		compile "$1" every_macro.c -std=$std -Wstrict-prototypes -Wmissing-prototypes $3
	done
	compile "$1" every_macro.c -std=gnu11 -O2 $3
	for std in c++11 c++14 c++17 c++20; do
		compile "$2" every_macro.cc -std=$std -Wold-style-cast $3
	done
	compile "$2" every_macro.cc -std=c++11 -O2 -fno-exceptions -fno-rtti -Wold-style-cast $3
	for std in c++17 c++20; do
		compile "$2" every_hpp.cc -std=$std -Wold-style-cast $3
		compile "$2" every_hpp.cc -std=$std -O2 -fno-exceptions -fno-rtti -Wold-style-cast $3
	done
}

# What FLEXTRACE_DISABLE leaves of flextrace.hpp in optimised code is what is there without it.
same_without() { # C++ compiler
	for level in -O1 -O2 -Os; do
		for define in FLEXTRACE_DISABLE BARE NONE; do
			compile "$1" every_hpp.cc -std=c++17 $level -D$define
			objdump -d "$work/$n.o" | sed 1,3d >"$work/$define"
		done
		cmp "$work/FLEXTRACE_DISABLE" "$work/BARE" || failed=1
		cmp -s "$work/NONE" "$work/BARE" && echo "FAILED: every_hpp.cc records nothing" && failed=1
	done
}

found=0
for pair in gcc:g++ clang:clang++; do
	cc=${pair%:*} cxx=${pair#*:}
	if ! command -v "$cc" >/dev/null || ! command -v "$cxx" >/dev/null; then
		echo "$cc is not installed: left out"
		continue
	fi
	found=$((found + 1))
	matrix "$cc" "$cxx" ""
	matrix "$cc" "$cxx" -DFLEXTRACE_DISABLE
	matrix "$cc" "$cxx" -DFLEXTRACE_CHECK=1

	# Disabled, nothing is left: no call, no symbol, even without optimisation.
	same_without "$cxx"
	for source in every_macro.c every_macro.cc every_hpp.cc; do
		compiler=$cc
		[ "${source##*.}" = cc ] && compiler="$cxx -std=c++17"
		compile "$compiler" $source -O0 -DFLEXTRACE_DISABLE
		if nm -u "$work/$n.o" | grep flextrace; then
			echo "FAILED: $compiler $source refers to flextrace although disabled"
			failed=1
		fi
	done
done
[ "$found" -gt 0 ] || exit 77
echo "$n compilations"
exit $failed
