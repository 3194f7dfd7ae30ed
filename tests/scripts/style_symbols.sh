#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every global symbol of the given libraries starts with flextrace_: style_symbols.sh FILE... But for functions of the
# C library that stand before it, weak (wrappers.h).
set -u
bad=0
for library in "$@"; do
	names=$(nm -g --defined-only "$library" | awk 'NF == 3 && !($2 == "W" && $3 ~ /^close(from|_range)?$/) { print $3 }' |
		grep -vE '^(flextrace_|_?__asan|__ubsan|__odr_asan|_init$|_fini$|__start_|__stop_|__bss_start|_edata|_end)' || true)
	if [ -n "$names" ]; then
		printf '%s exports:\n%s\n' "$library" "$names"
		bad=1
	fi
done
exit $bad
