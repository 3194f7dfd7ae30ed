#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# closes.sh PROVIDER CLOSES [N]: who closes all descriptors finds nobody's bytes in files of his own, and is recorded
# on. A close() that waits holds up no other one. Runs below private.sh, N times.
provider=$1 closes=$2 n_times=${3:-1}
. "$(dirname "$0")/guest_lib.sh"
start_daemon
export FLEXTRACE_PROVIDER="$provider"

# The session ends while the program still runs: LTTng's threads in it answer the daemon.
closes_test() { # session, way
	session_start "$1" --subbuf-size=4k
	mkfifo "$dir/in" "$dir/out"
	"$closes" "$2" <"$dir/in" >"$dir/out" &
	program=$!
	exec 3>"$dir/in"
	read -r ready <"$dir/out" || fail "$2 does not get ready"
	session_stop "$1"
	printf x >&3
	exec 3>&-
	wait $program || fail "$2 ($1): status $?"
	n=$(grep -c '"record"' "$dir/$1.txt")
	lost=$(sed -nE 's/.*discarded ([0-9]+) events?.*/\1/p' "$dir/$1.err" | awk '{ n += $1 } END { print n + 0 }')
	[ "$((n + lost))" -eq 20000 ] || echo "note: $2: $n records and $lost told as lost, of 20000"
	[ "$n" -gt 0 ] || fail "$2: nothing is recorded any more"
	rm -rf "${dir:?}/$1" "$dir/in" "$dir/out"
}
i=0
while [ $i -lt "$n_times" ]; do
	for way in closefrom close_range unshare close thread child; do
		closes_test "$way$i" $way
	done
	i=$((i + 1))
done

# Where one close() waits for its peer, others do not wait for it.
"$closes" waits </dev/null || fail "waits: status $?"
exit $failed
