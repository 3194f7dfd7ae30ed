#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# unread.sh COMMAND [ARGUMENT...]: runs a command while LTTng's consumer daemon stands still: of what is recorded
# no more than the buffers hold is kept, be the machine slow or fast. Their makers have made them before.
run_dir=/run/lttng
[ "$(id -u)" -eq 0 ] || run_dir=${LTTNG_HOME:-$HOME}/.lttng
consumer=$(pgrep -P "$(cat "$run_dir/lttng-sessiond.pid")" -x lttng-consumerd) || exit 125
"$(dirname "$0")/halt.sh" "$consumer" || exit 125
"$@"
code=$?
kill -CONT "$consumer"
exit $code
