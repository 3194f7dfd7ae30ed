#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# rights.sh BUILD: what a recording leaves open to other users, and what they may tell a set-user-ID program. Run it by
# private.sh. As root it records as an unprivileged user, which is how it is meant.
set -u
BUILD=$1
MINIFLEX="$BUILD/tracer/examples/miniflex/miniflex"
cd "$LTTNG_TEST_DIR" || exit 1
FLEXTRACE_PROVIDER=$(find "$BUILD/tracer" -name 'libflextrace-lttng.so' | head -n 1)
export FLEXTRACE_PROVIDER
export ASAN_OPTIONS="detect_leaks=0:verify_asan_link_order=0"
umask 022

fail() {
	echo "FAIL: $*" >&2
	exit 1
}

as_user=
if [ "$(id -u)" -eq 0 ]; then
	as_user="setpriv --reuid=65534 --regid=65534 --clear-groups"
	$as_user test -x "$MINIFLEX" 2>/dev/null || {
		echo "skipped: an unprivileged user cannot reach the build"
		exit 77
	}
	mkdir home && chown 65534:65534 home && chmod 755 "$LTTNG_TEST_DIR" home && cd home || exit 1
	export HOME="$PWD" LTTNG_HOME="$PWD"
fi

# A recording: its shared memory, sockets, buffers and files are its user's.
cat >look.sh <<'END'
# But the page that wakes programs for the daemon of all users: LTTng makes it, it has one word.
find /dev/shm -name 'lttng-*' ! -name 'lttng-ust-wait-[0-9]' -printf '%m %p\n' >shared
find "$LTTNG_HOME/.lttng" -printf '%m %y %p\n' >home-files
for pid in $(ps -C lttng-consumerd -o pid=); do
	for fd in "/proc/$pid/fd"/*; do
		mode=$(stat -L -c '%a %F' "$fd" 2>/dev/null) || continue # it is closed by now
		case $mode in *regular*) echo "${mode%% *} $(readlink "$fd")" ;; esac
	done
done >descriptors
exec "$1" --ranks=1 --iterations=2
END
$as_user "$BUILD/cli/flextrace" record -q -o out -- sh ./look.sh "$MINIFLEX" >messages 2>&1 ||
	{ cat messages; fail "it does not record"; }
[ -s home-files ] || fail "nothing to look at"
! grep -v '^[0-7]*0 ' shared || fail "shared memory is open to others"
awk '$1 % 10 && $2 == "d" && NR == 1 { print }' home-files | grep . && fail "the daemon's directory is open to others"
# What LTTng makes below out/trace is behind that directory.
[ "$(stat -c %a out out/trace | tr '\n' ' ')" = "700 700 " ] || fail "the recording's directories are open to others"
open=$(find out -path out/trace -prune -o -perm /077 -print)
[ -z "$open" ] || fail "the recording is open to others: $open"
grep -q ' /dev/shm/' descriptors || fail "no buffers to look at: $(cat descriptors)"
! grep -v '^[0-7]*0 ' descriptors || fail "buffers are open to others"

# A daemon whose directory cannot be made does not start, and that is said.
for command in "record -o unwritten -- true" doctor; do
	status=0
	# shellcheck disable=SC2086 # words of a command
	$as_user env LTTNG_HOME="$PWD/missing" "$BUILD/cli/flextrace" $command >messages 2>&1 || status=$?
	[ "$status" -eq 2 ] && grep -q 'cannot write' messages && grep -q 'set LTTNG_HOME to' messages ||
		{ cat messages; fail "exit code $status of $command without a directory for the daemon"; }
done
[ ! -e unwritten ] || fail "a directory is left"

# A recording from elsewhere, whose state file tells of memory: no other directory is removed, as `stop` ends it.
$as_user mkdir -p treasure/ust given/trace
$as_user sh -c ': >treasure/file; umask 077
	printf "session flextrace-start-1-2-3\ndaemon 1 1\nkind 0\nmade 0\nbuffers 0\nmemory /dev/shm/../..%s/treasure\njob -\n" "$PWD" \
		>given/.flextrace-recording'
$as_user "$BUILD/cli/flextrace" stop given >messages 2>&1
[ -f treasure/file ] || fail "a directory that a state file names is gone"

# What somebody else left where counts of emitted records are expected is neither read nor removed, and leads nowhere.
if [ -n "$as_user" ]; then
	: >treasure/1.2
	chmod 777 treasure
	rm -rf /dev/shm/flextrace.65534
	ln -s "$PWD/treasure" /dev/shm/flextrace.65534
	ln -s "$PWD/treasure" /dev/shm/flextrace.evil
	$as_user "$BUILD/cli/flextrace" record -q -o linked -- "$MINIFLEX" --ranks=1 --iterations=2 >messages 2>&1 ||
		{ cat messages; fail "it does not record beside a link"; }
	[ -f treasure/1.2 ] || fail "a file behind a link is gone"
	mkdir -m 755 root
	LTTNG_HOME="$PWD/root" "$BUILD/cli/flextrace" record -q -o root/out -- "$MINIFLEX" --ranks=1 --iterations=2 >messages 2>&1 ||
		{ cat messages; fail "root does not record beside a link"; }
	[ -f treasure/1.2 ] || fail "a file behind a link is gone, removed by root"
	rm /dev/shm/flextrace.65534 /dev/shm/flextrace.evil
fi

# A set-user-ID program takes no word from who runs it. The first run shows that the word is heard otherwise.
[ -n "$as_user" ] || { echo "recording is private; set-user-ID programs skipped: needs root"; exit 0; }
cp "$MINIFLEX" plain
cp "$(command -v id)" id-of
cp "$MINIFLEX" set-user
chown 65533 set-user id-of
chmod 4755 set-user id-of
[ "$($as_user ./id-of -u)" = 65533 ] || { echo "recording is private; set-user-ID programs skipped: not in force here"; exit 0; }
export FLEXTRACE_VERBOSE=1 FLEXTRACE_PROVIDER=/no/such/provider.so
$as_user ./plain --help >plain.out 2>&1
grep -q '/no/such/provider.so' plain.out || fail "FLEXTRACE_PROVIDER is not heard at all"
$as_user ./set-user --help >set-user.out 2>&1
! grep -q -e '/no/such/provider.so' -e 'flextrace: ' set-user.out || fail "a set-user-ID program hears its caller"
echo "recording is private, a set-user-ID program does not listen"
