#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cli_readers.sh FLEXTRACE MAKE_TRACE PLUGIN: the same trace through babeltrace2 with its muxer and through
# `flextrace convert` with one, two and many workers, and within less memory than it needs, gives byte-identical
# files.
set -eu
FLEXTRACE=$1
MAKE_TRACE=$2
PLUGIN=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

command -v babeltrace2 >/dev/null || { echo "babeltrace2 is not installed"; exit 77; }
# A plug-in with sanitizers in a program without them: the runtime must come first.
asan=$(ldd "$PLUGIN" | awk '/libasan/ { print $3; exit }')
export ASAN_OPTIONS="detect_leaks=0:verify_asan_link_order=0"

for kind in good contextless undefined lossy slow_clock many large; do
	"$MAKE_TRACE" $kind $kind
	for workers in 1 2 16; do
		"$FLEXTRACE" convert --quiet --workers $workers --formats chrome,csv,pftrace,text -o $kind.$workers $kind
	done
	LD_PRELOAD="$asan" BABELTRACE_PLUGIN_PATH=$(dirname "$PLUGIN") babeltrace2 convert $kind \
		--component=sink.flextrace.timeline \
		--params="output-dir=\"$kind.muxed\",formats=\"chrome,csv,pftrace,text\""
	[ -s $kind.1/run.json ]
	"$FLEXTRACE" convert --quiet --memory-limit 1M --formats chrome,csv,pftrace,text -o $kind.limited $kind
	LD_PRELOAD="$asan" BABELTRACE_PLUGIN_PATH=$(dirname "$PLUGIN") babeltrace2 convert $kind \
		--component=sink.flextrace.timeline \
		--params="output-dir=\"$kind.muxed_limited\",formats=\"chrome,csv,pftrace,text\",memory-limit=\"1M\""
	for other in 2 16 muxed limited muxed_limited; do
		diff -rq $kind.1 $kind.$other
	done
done
"$FLEXTRACE" convert --quiet --gzip -o packed good
gzip -dc packed/trace.json.gz | cmp - good.1/trace.json
# a trace tells what its owner did
[ -z "$(find good.1 packed -perm /077)" ]
echo "all the same"
