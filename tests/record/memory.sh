#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# memory.sh FLEXTRACE PROGRAM: run in a /dev/shm of 64 MiB: it works, or fails loudly before the program runs.
. "$(dirname "$0")/lib.sh"

run 0 "$FLEXTRACE" record --no-convert -o works -- "$PROGRAM" scopes=1000
expect_events works scope 1000

fails_loudly() {
	says "$1" err.log
	says '/dev/shm' err.log
	[ ! -s out.log ] || fail "the program ran unrecorded"
	[ ! -e fails ] || fail "a directory is left"
	nothing_left
}

# More than there is.
run 2 "$FLEXTRACE" record --subbuf-size=64M -o fails -- "$PROGRAM" say=ran
fails_loudly 'shm-size='

# Taken by somebody else between our look and LTTng's allocation, which LTTng calls success.
mkdir bin
real=$(command -v lttng-sessiond)
printf '#!/bin/sh\nhead -c 62M /dev/zero >/dev/shm/filler\nexec %s "$@"\n' "$real" >bin/lttng-sessiond
chmod +x bin/lttng-sessiond
run 2 env PATH="$PWD/bin:$PATH" "$FLEXTRACE" record -o fails -- "$PROGRAM" say=ran
fails_loudly 'could not make'

# Hardly anything left.
head -c 63500K /dev/zero >/dev/shm/filler
run 2 "$FLEXTRACE" record -o fails -- "$PROGRAM" say=ran
fails_loudly 'shm-size='
run 2 "$FLEXTRACE" doctor
says '^fail  /dev/shm' out.log
