#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# disabled.sh TOP CC...: with -DFLEXTRACE_DISABLE markers leave the same code as no markers at all.
set -u
top=$1
shift
here=$top/tests/freestanding
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
bad=0

# Same file name for both, so that nothing but the code can differ.
compile() {
	mkdir -p "$out/$2"
	cp "$here/$2.c" "$out/$2/work.c"
	(cd "$out/$2" && $1 -std=c99 -Wall -Wextra -Werror -c -o work.o $3 work.c \
		-I"$top/firmware-markers/include" -I"$top/tracer/include" -I"$top/firmware-markers/ports/posix/include")
}

for cc in "$@"; do
	command -v "$cc" >/dev/null || continue
	for level in -O0 -O2 -Os; do
		compile "$cc" bare $level && compile "$cc" traced "$level -DFLEXTRACE_DISABLE" || exit 1
		cmp "$out/bare/work.o" "$out/traced/work.o" || bad=1
		compile "$cc" traced $level || exit 1
		cmp -s "$out/bare/work.o" "$out/traced/work.o" &&
			echo "enabled markers leave no code: the test proves nothing" && bad=1
		echo "$cc $level: same object"
	done
done
exit $bad
