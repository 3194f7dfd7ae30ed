#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# extending.sh TOP CC: the table of docs/guides/extending.md compiles without a warning, and is that of the example.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
sed -n '/^<!-- extending: table -->$/,/^```$/p' "$1/docs/guides/extending.md" | sed -e '/^<!--/d' -e '/^```/d' >"$scratch/busiest.c"
[ "$(wc -l <"$scratch/busiest.c")" -gt 50 ] || { echo "no table in extending.md" >&2; exit 1; }
sed -n '/^+++ b.analysis.busiest.c$/,/^diff/s/^+//p' "$1/tests/examples/table.patch" | tail -n +2 | diff - "$scratch/busiest.c" ||
	{ echo "tests/examples/table.patch has another table than extending.md" >&2; exit 1; }
"$2" -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wshadow -Werror -c "$scratch/busiest.c" -o "$scratch/busiest.o" -I"$1/analysis" \
	-I"$1/converter" -I"$1" -I"$1/tracer/include"
if command -v clang-format >/dev/null; then
	cp "$1/.clang-format" "$scratch"
	clang-format --dry-run -Werror "$scratch/busiest.c"
fi
