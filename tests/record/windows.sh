#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# windows.sh FLEXTRACE PROGRAM: --schedule and --windows-only record exactly what they say; so does a lossy recording.
. "$(dirname "$0")/lib.sh"

# wait 1, warm up 1, record 2, twice: steps 2 and 3, 6 and 7 of 0 to 9.
run 0 "$FLEXTRACE" record --no-convert --schedule=1,1,2,2 -o schedule -- "$PROGRAM" steps=10
steps=$(babeltrace2 schedule/trace | sed -n 's/.* flextrace:step: .*number = \([0-9]*\).*/\1/p' | tr '\n' ' ')
[ "$steps" = "2 3 6 7 " ] || fail "recorded steps: $steps"
expect_events schedule scope 4
expect_events schedule process 1

run 0 "$FLEXTRACE" record --no-convert --windows-only -o windows -- "$PROGRAM" windows=3 scopes=5
expect_events windows scope 3
! babeltrace2 windows/trace | grep -q '"outside"' || fail "recorded outside a window"

# With buffers that are too small for it, what is lost is told with what to do; the rest is there.
run 0 "$FLEXTRACE" record --no-convert --subbuf-size=4K --num-subbuf=2 -o small -- "$UNREAD" "$PROGRAM" scopes=200000
says 'events were lost' err.log
says '--subbuf-size' err.log
lost=$(sed -n 's/.*warning: .*\b\([0-9][0-9]*\) events were lost.*/\1/p' err.log)
kept=$(events small scope)
[ $((lost + kept)) -eq 200000 ] || fail "lost $lost and kept $kept of 200000"
nothing_left
