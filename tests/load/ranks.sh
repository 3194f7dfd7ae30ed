#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ranks.sh BUILD: traces of 256 ranks on as many hosts, whose clocks are up to 255 ms apart: put on one clock, in order, without
# losses, with fewer descriptors than traces at first.
. "$(dirname "$0")/lib.sh"
RANKS=256
STEPS=20
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"$BUILD/tests/make_ranks" ranks $RANKS $STEPS
ulimit -S -n 128
peak "$FLEXTRACE" convert --quiet --output-dir=out ranks || fail "convert failed"
echo "$RANKS ranks: peak $peak_mib MiB"
[ "$peak_mib" -lt $((128 + 2 * RANKS)) ] || fail "$peak_mib MiB are too much"
check_output out
[ ! -e out/tables/losses.csv ] || fail "something was lost"

# Steps are a ms apart, and the bounds some us: without the right offset of each rank they would be mixed up.
awk -F, -v ranks=$RANKS -v steps=$STEPS '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	$at["kind"] != "User" { next }
	$at["name"] < step { print "step", $at["name"], "behind", step; exit 1 }
	{ step = $at["name"]; n++; if (seen[$at["rank"] "," step]++) { print "twice"; exit 1 } }
	$at["err_ns"] > 10000 { print "err_ns", $at["err_ns"]; exit 1 }
	END { if (n != ranks * steps) { print n, "steps"; exit 1 } }' out/tables/host.csv || fail "host.csv: see above"
