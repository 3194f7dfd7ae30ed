#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# disk.sh FLEXTRACE PROGRAM: the disk that is recorded to gets full, or the directory goes away meanwhile.
. "$(dirname "$0")/lib.sh"

# The directory is removed: nothing is left of it, which is not the program's fault.
run 4 "$FLEXTRACE" record -o gone -- sh -c '"$0" scopes=10; rm -rf gone; "$0" scopes=20 say=done' "$PROGRAM"
says '^done$' out.log
says 'directory was removed or renamed while' err.log
[ ! -e gone ] || fail "it is there again"
all_clean

# ... or renamed: LTTng goes on writing where it is now.
run 4 "$FLEXTRACE" record -o old -- sh -c '"$0" scopes=10; mv old new; "$0" scopes=20' "$PROGRAM"
says 'directory was removed or renamed while' err.log
rm -f new/.flextrace-recording
run 0 "$FLEXTRACE" convert --quiet -o converted new/trace
expect_rows converted host.csv 30 30
all_clean

# A recording that was started can be stopped even so.
for removed in started started/trace; do
	run 0 "$FLEXTRACE" start -o started
	rm -rf $removed
	run 4 "$FLEXTRACE" stop
	says 'directory was removed or renamed while' err.log
	all_clean
done

# A disk with room for a part: the program goes on, what fits is kept, and the user knows that it is not all.
mkdir disk
mount -t tmpfs -o size=1m tmpfs disk 2>/dev/null || {
	echo "skipped: the rest needs the right to mount a small file system"
	exit 77
}
mkdir fixed
mount -t tmpfs -o ro tmpfs fixed
run 4 "$FLEXTRACE" record -o fixed -- "$PROGRAM" say=ran
says 'Cannot make the trace directory: path=.*, reason=Read-only file system' err.log
[ ! -s out.log ] || fail "the program ran unrecorded"
head -c 900K /dev/zero >disk/filler
run 4 "$FLEXTRACE" record --no-convert --subbuf-size=16K --num-subbuf=16 -o disk/out -- "$PROGRAM" scopes=20000 say=done
says '^done$' out.log
says 'disk is full: records that found no room are lost' err.log
says "path=$PWD/disk/out/trace" err.log
run 0 "$FLEXTRACE" convert --quiet -o fits disk/out/trace
expect_rows fits host.csv 100 19999
all_clean

# In chunks: LTTng cannot close one any more, and gives up when the recording ends; the first one is kept.
rm -r disk/out disk/filler
begin disk/out "$FLEXTRACE" record --rotate=1h --no-convert -o disk/out -- "$PROGRAM" scopes=1000 write=here read=go scopes=500
session=$(sed -n 's/^session //p' disk/out/.flextrace-recording)
lttng --no-sessiond rotate "$session" >lttng.log 2>&1 || fail "lttng rotate"
head -c 2M /dev/zero >disk/filler 2>/dev/null
while lttng --no-sessiond rotate "$session" >lttng.log 2>&1; do :; done
finish 4
says 'because the disk is full, but what it had written is kept' err.log
# babeltrace2 leaks what it had of metadata that was cut.
ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" run 0 "$FLEXTRACE" convert --quiet -o chunks disk/out/trace
expect_rows chunks host.csv 1000 1000
all_clean

# A snapshot that finds no room is not left half, and the flight recorder goes on.
rm -r disk/out disk/filler
begin disk/out "$FLEXTRACE" record --flight-recorder=1M -o disk/out -- "$PROGRAM" scopes=5000 write=here read=go exit=3
head -c 2M /dev/zero >disk/filler 2>/dev/null
run 4 "$FLEXTRACE" snapshot
says 'disk is full, it has no room for the snapshot' err.log
[ -z "$(ls disk/out/snapshots)" ] || fail "left of a snapshot: $(ls disk/out/snapshots/*)"
rm disk/filler
run 0 "$FLEXTRACE" snapshot -o snapshot
expect_rows snapshot host.csv 5000 5000
rm -r disk/out/snapshots/*
head -c 2M /dev/zero >disk/filler 2>/dev/null
finish 3
says 'disk is full, it has no room for the snapshot' err.log
! grep -q 'ended well' err.log || fail "a program that failed is said to have ended well"
all_clean

# None for the tables: the trace is kept, and converts elsewhere.
rm -rf disk/out disk/filler
head -c 700K /dev/zero >disk/filler
run 4 "$FLEXTRACE" record -o disk/out -- "$PROGRAM" scopes=3000
says 'Cannot write output file: path=.*, reason=No space left on device' err.log
says "the trace is kept: $PWD/disk/out/trace" err.log
run 0 "$FLEXTRACE" convert --quiet -o whole disk/out/trace
expect_rows whole host.csv 3000 3000
all_clean
