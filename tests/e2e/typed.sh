#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# typed.sh BUILD: arguments, units and 64-bit stamps of a real recording, in every file that shows them.
. "$(dirname "$0")/lib.sh"
cd "$LTTNG_TEST_DIR"
"$FLEXTRACE" record --output=out --with=ops -- "$E2E/typed" >record.log 2>&1 || { cat record.log; fail "record failed"; }
check_output out

has() { # FILE TEXT...: each stands in the file
	file=$1
	shift
	for text in "$@"; do
		grep -qF -- "$text" "$file" || fail "$file has no $text"
	done
}

has out/trace.json '"args":{"category":"io","bytes":4096,"tensor":"w\"1","big":"18446744073709551615","ratio":0.25}' \
	'"args":{"flags":3}' '"args":{"result":-1}' '"args":{"category":"tile work","tiles":200}' \
	'{"bytes":512}' '{"W":74.5}'
grep '"name":"copy"' out/trace.json | grep -q '"cat":"io"' || fail "the category of a scope"
grep '"tiles":200' out/trace.json | grep -q '"cat":"tile work"' || fail "the category of device work"

# A flow and an event of a queue are an arrow each, with both of its ends.
for pair in flow:request queue_wait:wait; do
	n=$(grep -cE "\"ph\":\"[sf]\".*\"cat\":\"${pair%:*}\"|\"cat\":\"${pair%:*}\".*\"ph\":\"[sf]\"" out/trace.json)
	[ "$n" -eq 2 ] || fail "$n ends of the arrow ${pair#*:}"
done

# Every operation has its epoch, and is where the host saw it: the counter is the host's clock.
n=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
	NR > 1 && $at["status"] == "certified" && $at["err_ns"] < 1000000 { n++ }
	END { print n + 0 }' out/tables/events.csv)
[ "$n" -ge 200 ] || fail "only $n certified rows of 200 operations"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
	NR > 1 && $at["ts1"] < 5 * 2^40 { exit 1 }' out/tables/events.csv || fail "cycles lack their upper bits"
