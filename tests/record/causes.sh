#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# causes.sh FLEXTRACE PROGRAM TERMINAL: what keeps a command from its work is named, and what to do about it.
. "$(dirname "$0")/lib.sh"
export LTTNG_UST_REGISTER_TIMEOUT=-1
mkfifo told

# A recording that still runs, by its directory or its trace.
run 0 "$FLEXTRACE" start -o first
"$PROGRAM" scopes=10
for path in first first/trace; do
	run 2 "$FLEXTRACE" convert -o converted $path
	says 'still runs, end it with `flextrace stop ' err.log
	[ ! -e converted ] || fail "something was converted"
done

# Two stops: the second one comes while the first one waits for a session daemon that stands still.
daemon=$(daemon_of first)
"$HALT" "$daemon"
"$FLEXTRACE" stop --no-convert first 2>told >first.log &
first=$!
exec 3<told
while read -r line <&3 && [ "${line#*'kill -CONT'}" = "$line" ]; do :; done
run 2 "$FLEXTRACE" stop first
says 'Another `flextrace stop`, .*ends it already: path=.*/first$' err.log
kill -CONT "$daemon"
cat <&3 >/dev/null
exec 3<&-
wait $first || fail "the first stop failed"
expect_events first scope 10
run 2 "$FLEXTRACE" stop first
says 'No recording runs there' err.log
nothing_left

# A long name of a program is cut in that of the directory, between characters.
name=$(printf 'x%.0s' $(seq 127))ü$(printf 'y%.0s' $(seq 100))
cp "$PROGRAM" "$name"
run 0 "$FLEXTRACE" record -- "./$name" scopes=3
dir=$(find . -maxdepth 1 -name 'flextrace-x*')
[ "$(rows "$dir/tables/host.csv")" -eq 3 ] || fail "not 3 rows of a program with a long name"
case $dir in
*x-2*) ;;
*) fail "the name is not cut between characters: $dir" ;;
esac

# Limits in which a program with LTTng has no place, beside a session daemon that has one, and for the daemon itself.
# Sanitizers need more memory than that.
limited() {
	status=0
	(ulimit "$1" "$2" && shift 2 && exec "$@") >out.log 2>err.log || status=$?
	[ $status -eq 2 ] && [ ! -s out.log ] || fail "exit code $status with ulimit $1 $2"
}
run 0 "$FLEXTRACE" start -o roomy
limited -n 12 "$FLEXTRACE" record -o narrow -- "$PROGRAM" say=ran
says 'Too few descriptors: LTTng needs .* in each program beside its own, and `ulimit -n` is 12' err.log
if (ulimit -v 300000 && "$FLEXTRACE" --version) >version.log 2>&1; then
	limited -v 300000 "$FLEXTRACE" record --subbuf-size=8M -o narrow -- "$PROGRAM" say=ran
	says 'Too little address space: LTTng needs .* in each program beside its own, and `ulimit -v` is 300000' err.log
fi
[ ! -e narrow ] || fail "something is left"
run 2 "$FLEXTRACE" stop roomy
nothing_left
limited -n 12 "$FLEXTRACE" record -o narrow -- "$PROGRAM" say=ran
says 'lttng-sessiond .*; are limits too low?, `ulimit -n` is 12' err.log
[ ! -e narrow ] || fail "something is left"
(ulimit -Sn 40 && exec "$FLEXTRACE" record --no-convert -o soft -- "$PROGRAM" scopes=3) >out.log 2>err.log ||
	fail "a soft limit is the daemon's"
expect_events soft scope 3
nothing_left

[ "$(id -u)" -eq 0 ] || exit 0

# Nowhere for a session daemon's files; root without LTTng's group; memory that nobody may write to.
chmod 777 .
if setpriv --reuid=54321 --clear-groups test -x "$FLEXTRACE" 2>/dev/null && ! getent passwd 54321 >/dev/null; then
	run 2 env -u HOME -u LTTNG_HOME setpriv --reuid=54321 --clear-groups "$FLEXTRACE" record -o homeless -- "$PROGRAM"
	says 'you have no home directory; set LTTNG_HOME' err.log
	run 2 env -u HOME -u LTTNG_HOME setpriv --reuid=54321 --clear-groups "$FLEXTRACE" doctor
	says 'no home directory' out.log
fi
if getent group tracing >/dev/null && setpriv --reuid=65534 --regid=65534 --clear-groups unshare -Ur test -x "$FLEXTRACE"; then
	chmod 777 /run/lttng
	run 2 setpriv --reuid=65534 --regid=65534 --clear-groups unshare -Ur "$FLEXTRACE" record -o mapped -- "$PROGRAM"
	says 'root of a user namespace that does not have the group `tracing`' err.log
	run 2 setpriv --reuid=65534 --regid=65534 --clear-groups unshare -Ur "$FLEXTRACE" doctor
	says 'root of a user namespace without the group' out.log
fi
if mount -o remount,ro /dev/shm 2>/dev/null; then
	run 2 "$FLEXTRACE" record -o readonly -- "$PROGRAM"
	says 'Cannot write to /dev/shm.*reason=Read-only file system' err.log
	run 2 "$FLEXTRACE" doctor
	says 'mount -o remount,rw /dev/shm' out.log
	mount -o remount,rw /dev/shm
fi
[ ! -e homeless ] && [ ! -e mapped ] && [ ! -e readonly ] || fail "something is left"
