#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shm.sh BUILD: in the 64 MiB /dev/shm of a container, recording works or fails loudly; it is never an empty success.
. "$(dirname "$0")/lib.sh"
cd "$LTTNG_TEST_DIR"

# Somebody else has filled it up: loud failure, with what to do.
dd if=/dev/zero of=/dev/shm/filler bs=1M count=64 2>/dev/null || true
status=0
"$FLEXTRACE" record --output=full -- "$MINIFLEX" --ranks=2 --iterations=5 --quiet >full.log 2>&1 || status=$?
[ "$status" -ne 0 ] || { cat full.log; fail "an empty recording was called a success"; }
grep -q '/dev/shm' full.log || { cat full.log; fail "the message does not name /dev/shm"; }
rm /dev/shm/filler

"$FLEXTRACE" record --output=out -- "$MINIFLEX" --ranks=2 --iterations=5 --quiet >record.log 2>&1 ||
	{ cat record.log; fail "record failed in a 64 MiB /dev/shm"; }
check_output out
[ "$(wc -l <out/tables/events.csv)" -gt 100 ] || fail "the recording is empty"
