#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cli_decode.sh FLEXTRACE PLUGIN MAKE_AREAS: a copy of device memory as text; as a timeline, the same whether `decode`,
# `convert` or babeltrace2 read it; and copies that are damaged.
set -eu
FLEXTRACE=$1
PLUGIN=$2
MAKE_AREAS=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

fail() {
	echo "FAIL: $*" >&2
	exit 1
}

"$MAKE_AREAS" memory.bin
"$FLEXTRACE" decode memory.bin --names "$MAKE_AREAS" | sed 's,[^ ]*/make_areas\.c:[0-9]*,FILE,; s/ *$//' >text
cat >expected <<'END'
memory.bin + 0x0: device 0, core 0, processor 0, clock domain 0 of 64 bits
  runs: the newest is 3, read by a host up to 0
  ring: 16 records, policy stop, set up 1 times, written 16, dropped 7, read by a host 0
        run       job queue state              FW start  cycles behind it
          2         2     3 closed          34359739952  kernel start 800, kernel end 1000, FW end 1200, TS1 200, TS5 1100
          3         3     3 closed          34359741352  kernel start 800, kernel end 1000, FW end 1200, TS1 200, TS5 1100
                record      ticks      since kind       cycles name
                     0        184          - run               run 1
                     1        484        300 begin             load weights  FILE
                     2        584        100 value               rows  FILE
                     3                       =              64
                     4        684        100 begin               first half  FILE
                     5        784        100 end           100   first half  FILE
                     6        884        100 end           400 load weights  FILE
                     7       1084        200 mark              half way  FILE
                     8       1584        500 run               run 2
                     9       1884        300 begin             load weights  FILE
                    10       1984        100 value               rows  FILE
                    11                       =              64
                    12       2084        100 begin               first half  FILE
                    13       2184        100 end           100   first half  FILE
                    14       2284        100 end           400 load weights  FILE
                    15       2484        200 mark              half way  FILE

memory.bin + 0x1000: device 0, core 1, processor 0, clock domain 1 of 64 bits
  runs: the newest is 3, read by a host up to 0
  ring: 16 records, policy overwrite, set up 1 times, written 24, dropped 0, read by a host 0
        run       job queue state              FW start  cycles behind it
          2         2     3 closed          34359744152  kernel start 800, kernel end 1000, FW end 1200, TS1 200, TS5 1100
          3         3     3 open            34359745552  kernel start 800, TS1 200
                record      ticks      since kind       cycles name
                     8       5784          - run               run 2
                     9       6084        300 begin             load weights  FILE
                    10       6184        100 value               rows  FILE
                    11                       =              64
                    12       6284        100 begin               first half  FILE
                    13       6384        100 end           100   first half  FILE
                    14       6484        100 end           400 load weights  FILE
                    15       6684        200 mark              half way  FILE
                    16       7184        500 run               run 3
                    17       7484        300 begin             load weights  FILE
                    18       7584        100 value               rows  FILE
                    19                       =              64
                    20       7684        100 begin               first half  FILE
                    21       7784        100 end           100   first half  FILE
                    22       7884        100 end           400 load weights  FILE
                    23       8084        200 mark              half way  FILE
END
diff -u expected text || fail "the text is another"
"$FLEXTRACE" decode memory.bin | grep -q 'marker 0x' || fail "without an image no ids are shown"

# As a timeline: cycles at the rate that was given, ends that are missing counted.
"$FLEXTRACE" decode --quiet -o decoded --nominal-mhz=500 --names "$MAKE_AREAS" memory.bin 2>told
[ ! -s told ] || fail "there is something to tell: $(cat told)"
awk -F, '$7 == "FW" && $5 == 0 && $13 == 2400 { n++ } $7 == "Zone" && $8 == "load weights" { n++ }
	END { exit n != 2 + 4 }' decoded/tables/events.csv || fail "rows are missing, or have other lengths"
grep -q 'device_ring_dropped,0,0,[^,]*,7,' decoded/tables/losses.csv || fail "drops are not counted"
grep -q 'unmatched_begin,0,1,[^,]*,2,' decoded/tables/losses.csv || fail "what never ended is not counted"
"$FLEXTRACE" convert --quiet -o found --nominal-mhz=500 --names "$MAKE_AREAS" memory.bin
"$FLEXTRACE" convert --quiet -o converted --as=marker-area --nominal-mhz=500 --names "$MAKE_AREAS" memory.bin
diff -r decoded converted || fail "convert makes other files"
diff -r -x run.json -x report.html decoded found || fail "convert does not know the file"

# Without a run nothing tells how often the low words wrapped: marks stand in the first turn, not before the counter began.
"$MAKE_AREAS" marks.bin marks
"$FLEXTRACE" decode --quiet -o marks marks.bin 2>/dev/null
awk -F, 'NR > 1 && $12 == 84 + 100 * (NR - 2) { n++ } END { exit n != 2 }' marks/tables/instants.csv ||
	fail "marks are elsewhere: $(cat marks/tables/instants.csv)"

# Ends belong to the zones of their name; what has none is named.
"$MAKE_AREAS" zones.bin zones
"$FLEXTRACE" decode zones.bin --names "$MAKE_AREAS" | sed 's/  [^ ]*make_areas\.c:[0-9]*$//; s/ *$//' >text
{ grep -qE ' end +200 outer$' text && grep -qE ' end +100 zone$' text; } || fail "ends are of other zones: $(cat text)"
[ "$(grep -c 'zone without an end' text)" -eq 2 ] || fail "zones without an end are not named: $(cat text)"
{ grep -q 'zone without an end: left {early}$' text && grep -q 'zone without an end: never ended$' text; } || fail "other zones have no end: $(cat text)"

# A header of an earlier layout, whose ring reaches over the areas: it hides none, and is told.
{ head -c 352 memory.bin; head -c 3744 /dev/zero; cat memory.bin; } >stale.bin
printf '\000\004\000\000' | dd of=stale.bin bs=1 seek=24 conv=notrunc status=none   # 1024 records
printf '\377\377\000\000' | dd of=stale.bin bs=1 seek=36 conv=notrunc status=none   # all written
"$FLEXTRACE" decode stale.bin >text 2>told
[ "$(grep -c '^stale.bin + ' text)" -eq 3 ] || fail "a stale header hides areas: $(cat text)"
grep -q 'another area begins in its ring, at 0x1000' text || fail "a stale header is not told: $(cat text)"
grep -q 'begins inside of what another one claims.*byte=4096' told || fail "no warning: $(cat told)"

# A copy of a whole memory, in which areas stand somewhere.
{ head -c 8192 "$FLEXTRACE"; cat memory.bin; } >whole.bin
"$FLEXTRACE" decode whole.bin -o whole 2>/dev/null | grep -q '^whole.bin + 0x3000: device 0, core 1' || fail "areas are not found"
[ "$(wc -l <whole/tables/events.csv)" -eq "$(wc -l <decoded/tables/events.csv)" ] || fail "a whole memory converts to other rows"

# A part of the memory: the second area is cut, then gone, then a header.
for bytes in 4500 4200 100; do
	head -c $bytes memory.bin >part.bin
	code=0
	"$FLEXTRACE" decode part.bin >text 2>told || code=$?
	case $bytes in
	4500) grep -q 'ends inside this area.*needs 480 bytes' text && [ $code -eq 0 ] ;;
	4200) grep -q 'ends inside a marker area, skipping: file=part.bin, byte=4096' told && [ $code -eq 0 ] ;;
	100) [ $code -eq 2 ] && grep -q 'There is no marker area' told ;;
	esac || fail "$bytes bytes: exit code $code, $(cat text told)"
done
head -c 4500 memory.bin >part.bin
"$FLEXTRACE" decode --quiet -o part part.bin 2>/dev/null
grep -q ',truncated_stream,.*,1,' part/tables/losses.csv || fail "a cut area is not counted"

# Anything at all.
head -c 300000 "$FLEXTRACE" >garbage
code=0
"$FLEXTRACE" decode garbage >/dev/null 2>&1 || code=$?
[ $code -eq 2 ] || fail "garbage: exit code $code"
code=0
"$FLEXTRACE" decode --names memory.bin memory.bin >/dev/null 2>told || code=$?
{ [ $code -eq 2 ] && grep -q 'Cannot read marker names: path=memory.bin' told; } || fail "an image that is none: $code"

command -v babeltrace2 >/dev/null || { echo "babeltrace2 is not installed"; exit 0; }
# A plug-in with sanitizers in a program without them: the runtime must come first.
asan=$(ldd "$PLUGIN" | awk '/libasan/ { print $3; exit }')
export ASAN_OPTIONS="detect_leaks=0:verify_asan_link_order=0"
read_with() {
	LD_PRELOAD="$asan" BABELTRACE_PLUGIN_PATH=$(dirname "$PLUGIN") babeltrace2 "$@"
}
read_with convert memory.bin --component=sink.ctf.fs --params='path="ctf"' >/dev/null 2>&1
"$FLEXTRACE" convert --quiet -o from_ctf --nominal-mhz=500 --names "$MAKE_AREAS" ctf
diff -r found from_ctf || fail "CTF is not the same"
read_with convert memory.bin --component=sink.flextrace.timeline \
	--params="output-dir=\"graph\",nominal-mhz=500.0,names=[\"$MAKE_AREAS\"]"
diff -r found graph || fail "the graph is not the same"
echo "all the same"
