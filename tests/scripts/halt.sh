#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# halt.sh PID: stops a process, and waits until each of its threads stands still.
kill -STOP "$1" || exit 1
while grep -L '^State:.T' "/proc/$1/task"/*/status 2>/dev/null | grep -q .; do :; done
