#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# enabled.sh BUILD: the enabled macro against a bare tracepoint, in a flight-recorder session that never loses.
set -eu
BUILD=$1
FLEXTRACE_PROVIDER=$(find "$BUILD/tracer" -name 'libflextrace-lttng.so')
export FLEXTRACE_PROVIDER LTTNG_UST_REGISTER_TIMEOUT=30000
lttng-sessiond --daemonize
{
	lttng create bench --snapshot --output="$LTTNG_TEST_DIR/snapshot"
	lttng enable-channel --userspace --overwrite --subbuf-size=4M --num-subbuf=4 events
	lttng enable-event --userspace --channel=events 'flextrace:scope,flextrace:marker_batch,bench:scope'
	lttng add-context --userspace --type=vpid --type=vtid
	lttng start
} >/dev/null
"$BUILD/tests/bench/macros" enabled
"$BUILD/tests/bench/drain"
