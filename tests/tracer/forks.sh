#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# forks.sh PROVIDER FORKS PLUGIN NEEDED [N]: children of all kinds live, and their records are theirs or counted. PLUGIN
# needs the library NEEDED and looks for it beside itself. With N: so many forks beside a thread that loads all the time.
# Runs below private.sh.
provider=$1 forks=$2 plugin=$3 needed=$4 n_forks=${5:-100}
. "$(dirname "$0")/guest_lib.sh"
export FLEXTRACE_PROVIDER="$provider"

# The plug-in whole, and one that needs a FIFO.
mkdir "$dir/whole" "$dir/half"
cp "$plugin" "$needed" "$dir/whole"
cp "$plugin" "$dir/half"
mkfifo "$dir/half/$(basename "$needed")"
whole="$dir/whole/$(basename "$plugin")"
half="$dir/half/$(basename "$plugin")"
fifo="$dir/half/$(basename "$needed")"

# forks_test EXPECTED_LEFT_OUT ARGUMENT...
forks_test() {
	wanted=$1
	shift
	"$forks" "$@" >"$dir/said" || fail "$*: status $?"
	[ "$(cat "$dir/said")" = "$wanted left out" ] || fail "$*: $(cat "$dir/said"), not $wanted"
}

# -- no session daemon at all ------------------------------------------------------------------------------
forks_test 0 loading "$half" "$fifo"
forks_test 0 busy "$whole" "$n_forks"
for way in exits alone raw; do
	forks_test 0 $way
done
FLEXTRACE_FORK=register forks_test 0 exits

# -- recorded -----------------------------------------------------------------------------------------------
start_daemon

# recorded SESSION LEFT_OUT IN_CHILDREN CHILDREN ARGUMENT...: records "in child", and pids that these have.
recorded() {
	session=$1 left_out=$2 in_children=$3 children=$4
	shift 4
	session_start "$session"
	forks_test "$left_out" "$@"
	session_stop "$session"
	expect_count "$session" "$in_children" 'instant: .*"in child"'
	pids=$(sed -nE 's/.*vpid = ([0-9]+),.*"in child".*/\1/p' "$dir/$session.txt" | sort -u | wc -l)
	[ "$pids" -eq "$children" ] || fail "$session: records of $pids children, not $children"
	parent=$(sed -nE 's/.*vpid = ([0-9]+),.*"in parent".*/\1/p' "$dir/$session.txt" | sort -u)
	! grep -q "vpid = $parent,.*\"in child\"" "$dir/$session.txt" || fail "$session: a child's record is the parent's"
}
recorded loading 20 0 0 loading "$half" "$fifo"
recorded exits 60 0 0 exits
FLEXTRACE_FORK=register recorded vouched 0 60 60 exits
recorded alone 0 20 20 alone
recorded raw 30 0 0 raw
recorded no-files 20 0 0 no-files
run_dir=$LTTNG_HOME/.lttng
[ "$(id -u)" -ne 0 ] || run_dir=/run/lttng
recorded unreachable 20 0 0 unreachable "$run_dir/lttng-ust-sock-8"
if unshare -p true 2>/dev/null; then
	recorded namespace 0 6 6 namespace
fi
session_start busy
forks_test "$n_forks" busy "$whole" "$n_forks"
session_stop busy
exit $failed
