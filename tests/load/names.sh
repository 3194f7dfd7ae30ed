#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# names.sh BUILD NAMES: what a name costs the converter that no other record has, as that of a scope and as that of a thread which is
# renamed all the time; names that come again cost nothing. docs/bench.md, "Memory of names", says why it keeps them.
. "$(dirname "$0")/lib.sh"
NAMES=$2
ROOM=8 # MiB: blocks, and tables of names that have just grown
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export TMPDIR="$scratch"

# cost KIND NAMES: stores in $peak_mib what a trace of so many takes.
cost() {
	rm -rf trace out
	"$BUILD/tests/bench/trace" trace "$1" "$2" 2
	peak "$FLEXTRACE" convert --quiet --workers=2 --output-dir=out trace || fail "convert $1 $2"
}

# bounded KIND BYTES: a name takes no more than that.
bounded() {
	cost "$1" 2000
	few_mib=$peak_mib
	cost "$1" "$NAMES"
	most=$((few_mib + ROOM + NAMES * $2 / 1048576))
	echo "$1: $few_mib MiB for 2000, $peak_mib MiB for $NAMES, at most $most"
	[ "$peak_mib" -le "$most" ] || fail "a name takes more than $2 bytes"
}

bounded names 800 # tables of averages keep each name by rank and by stack while they are made
bounded renames 130
