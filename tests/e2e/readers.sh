#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# readers.sh BUILD: babeltrace2 with its muxer and flextrace convert with one and two workers write the same bytes.
. "$(dirname "$0")/lib.sh"
cd "$LTTNG_TEST_DIR"
"$FLEXTRACE" record --output=rec --no-convert -- "$MINIFLEX" --ranks=2 --iterations=8 --quiet >record.log 2>&1 ||
	{ cat record.log; fail "record failed"; }

# A sink does not know what lies beside the trace.
mv rec/.flextrace-emitted emitted || fail "nobody noted what was emitted"
"$FLEXTRACE" convert --quiet --workers=1 --output-dir=one rec/trace
"$FLEXTRACE" convert --quiet --workers=2 --output-dir=two rec/trace
bt2 convert rec/trace --component=sink.flextrace.timeline --params='output-dir="muxed"'
bt2 run --component=src:source.ctf.fs --params='inputs=["'"$(dirname "$(find rec/trace -name metadata | head -n 1)")"'"]' \
	--component=mux:filter.utils.muxer --component=sink:sink.flextrace.timeline --params='output-dir="run"' \
	--connect='src:mux' --connect='mux:sink'
same_files one two
same_files one muxed
"$FLEXTRACE" convert --quiet --gzip --output-dir=packed rec/trace
gzip -dc packed/trace.json.gz | cmp - one/trace.json || fail "trace.json.gz holds something else than trace.json"
check_output one
same_files one run
