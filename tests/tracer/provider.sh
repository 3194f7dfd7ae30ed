#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Records real programs with LTTng and reads the trace as text: provider.sh PROVIDER EVERY_MACRO
# SCENARIO PLUGIN SESSION_FILE.
# Runs below private.sh. FLEXTRACE_TEST_SANITIZED=1: the programs are built with a sanitizer.
set -u
provider=$1 every_macro=$2 scenario=$3 plugin=$4 session_file=$5
dir=$LTTNG_TEST_DIR
failed=0

for tool in lttng lttng-sessiond babeltrace2; do
	command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done

fail() {
	echo "FAILED: $*"
	failed=1
}

export FLEXTRACE_PROVIDER="$provider" FLEXTRACE_SESSION="a session" RANK=3 WORLD_SIZE=4

# Without a daemon a program starts and runs all the same.
"$every_macro" || fail "runs without a session daemon"

lttng-sessiond --no-kernel --background --pidfile="$dir/daemon.pid" 2>"$dir/daemon.log" || {
	cat "$dir/daemon.log"
	echo "skipped: lttng-sessiond does not start here"
	exit 77
}
trap 'kill "$(cat "$dir/daemon.pid")" 2>/dev/null' EXIT

# However busy the machine is, programs wait until they are registered.
export LTTNG_UST_REGISTER_TIMEOUT=-1

lttng="lttng --no-sessiond --group=root -q"

session_start() {
	$lttng create "$1" --output="$dir/$1" &&
		$lttng enable-channel -u --subbuf-size=64k --num-subbuf=4 data &&
		$lttng add-context -u -c data -t vpid -t vtid &&
		$lttng enable-event -u -c data 'flextrace:*' &&
		$lttng start "$1" || fail "session $1"
}

session_stop() {
	$lttng stop "$1" && $lttng destroy "$1"
	babeltrace2 "$dir/$1" >"$dir/$1.txt" || fail "reading $1"
}

# expect SESSION PATTERN...: each pattern stands in a line of its own event.
expect() {
	session=$1
	shift
	for pattern in "$@"; do
		grep -qE -- "flextrace:$pattern" "$dir/$session.txt" || fail "$session has no $pattern"
	done
}

expect_count() { # session, how often, pattern
	n=$(grep -cE -- "flextrace:$3" "$dir/$1.txt")
	[ "$n" -eq "$2" ] || fail "$1 has $n instead of $2 of $3"
}

# -- each event of the trace model, with all its fields in order ----------------------------------------
session_start all
"$every_macro" || fail "every_macro"
session_stop all
c='\{ cpu_id = [0-9]+ \}, \{ vpid = [0-9]+, vtid = [0-9]+ \}'
expect all \
	"process: $c, \{ rank = 3, world_size = 4, pid = [0-9]+, start_ns = [1-9][0-9]*, time_ns = [1-9][0-9]*, boot_id = \"[0-9a-f-]{36}\", time_namespace = [0-9]+, host = \"[^\"]+\", program = \"[^\"]+\", runtime = \"\", version = \"\", session = \"a session\", real_ns = [1-9][0-9]*, dialect = \"neutral\" \}" \
	"process: $c, \{ rank = 1, world_size = 2, .*, runtime = \"every_macro\", version = \"1.2.3\"" \
	"device: $c, \{ device = 3, uuid = \"0000:01:00.0\", n_cores = 4, core_hz = 560000000, name = \"emulated\", power_unit = \"mJ\", processors = \"control,mover\" \}" \
	"clock_domain: $c, \{ device = 3, domain = 1, counter_bits = 32, nominal_hz = 560000000, rate_group = 7 \}" \
	"thread_name: $c, \{ device = 0, id = [0-9]+, name = \"the only thread\", file = \"\", line = 0 \}" \
	"queue_name: $c, \{ device = 3, id = 2, name = \"dma queue\", file = \"\", line = 0 \}" \
	"marker_name: $c, \{ device = 3, id = 16, name = \"matmul tile\", file = \"firmware.c\", line = 99 \}" \
	"scope: $c, \{ kind = 0, begin_ns = [1-9][0-9]*, name = \"user scope\", correlation = 0, args = \"\", file = \"every_macro.h\", line = [1-9][0-9]* \}" \
	"scope: $c, \{ kind = 2, begin_ns = [1-9][0-9]*, name = \"init graph\", correlation = 0," \
	"scope: $c, \{ kind = 1, begin_ns = [1-9][0-9]*, name = \"launch\", correlation = 77," \
	"process: $c, .* real_ns = [1-9][0-9]*, dialect = \"cuda\" \}" \
	"scope: $c, \{ kind = 47, begin_ns = [1-9][0-9]*, name = \"fence\", correlation = 0," \
	"scope: $c, \{ kind = 41, begin_ns = [1-9][0-9]*, name = \"weights\", correlation = 84," \
	"scope: $c, \{ kind = 3, begin_ns = [1-9][0-9]*, name = \"one of the AIU\", correlation = 0," \
	"scope: $c, \{ kind = 34, begin_ns = [1-9][0-9]*, name = \"aten::mm\", correlation = 78," \
	"scope: $c, \{ kind = 0, begin_ns = [1-9][0-9]*, name = \"scope with args\", correlation = 281474976710657," \
	"scope_args: $c, \{ correlation = 281474976710657, args = \"text=a,b n=1\" \}" \
	"scope: $c, \{ kind = 0, begin_ns = [1-9][0-9]*, name = \"record_host_work\", correlation = 0, args = \"\", file" \
	"scope: $c, \{ kind = 0, begin_ns = [1-9][0-9]*, name = \"a step of 1\", correlation = 0, args = \"\", file" \
	"span: $c, \{ kind = 0, begin_ns = 1000, end_ns = 2000, name = \"timed before\", correlation = 0, args = \"\", file = \"every_macro.h\", line = [1-9][0-9]* \}" \
	"scope: $c, .* name = \"typed\", .* args = \"scategory.*2:io.*ubytes.*in.*ffffffffffffffff.*dratio.*3fe0000000000000.*stext.*3:a,b.*[bi]is on.*1.*pat.*[0-9a-f]+.*xraw.*612c62.*\", file" \
	"scope: $c, .* name = \"malloc\", correlation = 84, args = \"ubytes.*40.*\", file" \
	"span: $c, .* begin_ns = 1002, end_ns = 2002, name = \"timed\", .* args = \"in.*1.*\", file" \
	"span: $c, .* begin_ns = 1003, end_ns = 2003, name = \"timed\", correlation = 85, args = \"un.*2.*\", file" \
	"span: $c, .* name = \"with a result\", .* args = \"iresult.*1.*\", file" \
	"span: $c, \{ kind = 3, begin_ns = 1001, end_ns = 2001, name = \"timed\", correlation = 82, args = \"\", file" \
	"span: $c, \{ kind = 0, begin_ns = [1-9][0-9]*, end_ns = [1-9][0-9]*, name = \"by a handle\", correlation = 0, args = \"\", file" \
	"span: $c, \{ kind = 3, begin_ns = [1-9][0-9]*, end_ns = [1-9][0-9]*, name = \"a call by a handle\", correlation = 83, args = \"\", file" \
	"begin: $c, \{ kind = 33, name = \"compile\", correlation = 79 \}" \
	"end: $c, \{ kind = 33, name = \"compile\", correlation = 79 \}" \
	"async_begin: $c, \{ kind = 0, name = \"request\", correlation = 1 \}" \
	"async_end: $c, \{ kind = 0, name = \"request\", correlation = 1 \}" \
	"instant: $c, \{ name = \"an instant\", correlation = 0 \}" \
	"instant: $c, \{ name = \"another\", correlation = 80 \}" \
	"instant: $c, \{ name = \"in a handler\", correlation = 81 \}" \
	"counter: $c, \{ name = \"bytes in flight\", value = 1, unit = \"\", device = -1 \}" \
	"counter: $c, \{ name = \"in flight\", value = 1, unit = \"bytes\", device = -1 \}" \
	"counter: $c, \{ name = \"power\", value = 74.5, unit = \"W\", device = 3 \}" \
	"flow: $c, \{ phase = 0, device = 0, queue = 0, name = \"request\", id = 5 \}" \
	"flow: $c, \{ phase = 1, .* name = \"request\", id = 5 \}" \
	"flow: $c, \{ phase = 2, .* name = \"request\", id = 5 \}" \
	"flow: $c, \{ phase = 3, device = 3, queue = 2, name = \"record\", id = 6 \}" \
	"flow: $c, \{ phase = 4, device = 3, queue = 4, name = \"wait\", id = 6 \}" \
	"annotation: $c, \{ key = \"model\", value = \"granite\" \}" \
	"device_op: $c, \{ device = 3, domain = 1, queue = 2, job = 41, correlation = 77, kind = 1, name = \"matmul\", submit_ns = 1000, complete_ns = 2000, ts = \[ \[0\] = 100, \[1\] = 101, \[2\] = 102, \[3\] = 103, \[4\] = 104 \], power = 12, bytes = 4096, peer = -1, group = \"tp\", type = \"SingleCast\", _ts64_length = 5, ts64 = \[ \[0\] = 4294967396, \[1\] = 0, .* \], args = \"itile.*29.*\" \}" \
	"submit: $c, \{ device = 3, queue = 2, job = 41, correlation = 77, name = \"matmul\", host_ns = [1-9][0-9]* \}" \
	"complete: $c, \{ device = 3, queue = 2, job = 41, correlation = 77, name = \"matmul\", host_ns = 2000 \}" \
	"host_estimate: $c, \{ device = 3, queue = 2, job = 41, kind = 6, begin_ns = 1100, end_ns = 1900, source = \"other tool\" \}" \
	"marker_batch: $c, \{ device = 3, core = 1, processor = 0, domain = 1, first_index = 640, dropped = 5, _words_length = 2, words = \[ \[0\] = 1152921513196781571, \[1\] = 2305843026393563141 \] \}" \
	"clock_sync: $c, \{ device = 3, domain = 1, host_before_ns = 500, ticks = 600, host_after_ns = 700 \}" \
	"collective: $c, \{ group = \"tp\", seq = 6, op = \"all_reduce\", bytes = 2048, peers = \"0,1\", phase = 0 \}" \
	"collective: $c, \{ group = \"tp\", seq = 6, op = \"all_reduce\", bytes = 2048, peers = \"0,1\", phase = 1 \}" \
	"memory: $c, \{ device = 3, address = 4096, bytes = 256, op = 0 \}" \
	"memory: $c, \{ device = 3, address = 4096, bytes = 512, op = 1 \}" \
	"memory: $c, \{ device = 3, address = 4096, bytes = 512, op = 2 \}" \
	"step: $c, \{ number = 1 \}" \
	"window: $c, \{ edge = 0, name = \"measured\" \}" \
	"window: $c, \{ edge = 1, name = \"measured\" \}" \
	"op: $c, \{ correlation = 78, type = \"mm\", attributes = \"alpha=1\", n_cores = 4, depth = 2 \}" \
	"tensor: $c, \{ correlation = 78, is_output = 1, dims = \"2x3\", layout = \"row\", dtype = \"fp16\", memory = \"HBM\" \}" \
	"op_info: $c, \{ correlation = 78, module = \"decoder\", opcode = \"dot\", op_name = \"dot.1\", frames = \"model.py:1\" \}"
expect_count all 14 "scope: "
expect_count all 7 "span: "

# -- the installed session file records the same -----------------------------------------------------------
$lttng load --input-path="$session_file" --override-url="file://$dir/loaded" \
	--override-name=loaded flextrace && $lttng start loaded || fail "session file"
"$every_macro" || fail "every_macro"
session_stop loaded
sed -E 's/.*(flextrace:[a-z_]*): .*/\1/' "$dir/all.txt" | sort >"$dir/all.names"
sed -E 's/.*(flextrace:[a-z_]*): .*/\1/' "$dir/loaded.txt" | sort >"$dir/loaded.names"
cmp "$dir/all.names" "$dir/loaded.names" || fail "the session file leaves out events"

# -- a forked rank is its own process ------------------------------------------------------------------
fork_test() { # session, preloaded library
	session_start "$1"
	LD_PRELOAD=$2 "$scenario" fork || fail "scenario $1"
	session_stop "$1"
	parent=$(sed -nE 's/.*flextrace:instant: .*vpid = ([0-9]+),.*"in parent".*/\1/p' "$dir/$1.txt")
	child=$(sed -nE 's/.*flextrace:instant: .*vpid = ([0-9]+),.*"in child".*/\1/p' "$dir/$1.txt")
	[ -n "$parent" ] && [ -n "$child" ] && [ "$parent" != "$child" ] ||
		fail "$1: parent's vpid '$parent', child's '$child'"
	expect "$1" "process: .*vpid = $parent, .*rank = 4, .*pid = $parent," \
		"process: .*vpid = $child, .*rank = 5, .*pid = $child," \
		"device: .*vpid = $child, .*name = \"second name\"" \
		"queue_name: .*vpid = $child, .*name = \"queue\"" \
		"thread_name: .*vpid = $child, .*id = $child, name = \"main thread\"" \
		"instant: .*vpid = $parent, .*\"in parent again\""
	expect_count "$1" 0 "process: .*vpid = $parent, .* pid = $child,"
	expect_count "$1" 0 "process: .*vpid = $child, .* pid = $parent,"
	starts=$(sed -nE 's/.*flextrace:process: .*start_ns = ([0-9]+),.*/\1/p' "$dir/$1.txt" | sort -u | wc -l)
	[ "$starts" -eq 2 ] || fail "$1 has $starts generations"
}
fork_test fork ""
preload=$(ldconfig -p 2>/dev/null | sed -nE 's/.*(liblttng-ust-fork\.so\.1) .*/\1/p' | head -n 1)
# A sanitizer's library must come first, which a preloaded one makes impossible.
if [ -n "$preload" ] && [ "${FLEXTRACE_TEST_SANITIZED:-0}" = 0 ]; then
	fork_test fork_preloaded "$preload"
fi

# -- definitions made before the session exist in it, and again on request -------------------------------
mkfifo "$dir/in" "$dir/out"
"$scenario" late <"$dir/in" >"$dir/out" &
late=$!
exec 3>"$dir/in"
read -r ready <"$dir/out" || fail "late does not get ready"
session_start late # LTTng takes the next command of a program only when it has dumped its state
$lttng disable-event -u -c data flextrace:none 2>/dev/null
$lttng regenerate statedump -s late || fail "regenerate"
$lttng stop late
printf x >&3
exec 3>&-
wait $late || fail "scenario late"
session_stop late 2>/dev/null
expect_count late 2 "process: .*rank = 3"
expect_count late 2 "device: .*second name"
expect_count late 0 "device: .*first name"
expect_count late 2 "queue_name: "
expect_count late 2 "thread_name: .*main thread"

# -- windows and schedule mask everything else ------------------------------------------------------------
session_start windows
FLEXTRACE_WINDOWS_ONLY=1 "$scenario" windows || fail "scenario windows"
session_stop windows
expect_count windows 1 "instant: "
expect windows "instant: .*inside" "process: " "window: .*edge = 0" "window: .*edge = 1"

session_start steps
FLEXTRACE_SCHEDULE=1,1,2,2 "$scenario" steps || fail "scenario steps"
session_stop steps
steps=$(sed -nE 's/.*flextrace:step: .*number = ([0-9]+) .*/\1/p' "$dir/steps.txt" | tr '\n' ' ')
[ "$steps" = "2 3 6 7 " ] || fail "recorded steps are $steps"
expect_count steps 4 "instant: .*work [2367]\""
expect_count steps 4 "instant: "
expect_count steps 4 "window: .*\"schedule\""

# -- a plug-in with a libflextrace of its own belongs to the process ---------------------------------------
session_start plugin
FLEXTRACE_WINDOWS_ONLY=1 "$scenario" plugin "$plugin" || fail "scenario plugin"
session_stop plugin
expect_count plugin 1 "instant: .*in the plugin"
expect plugin "thread_name: .*named by the plugin"
parent=$(sed -nE 's/.*flextrace:instant: .*vpid = ([0-9]+),.*/\1/p' "$dir/plugin.txt" | head -n 1)
starts=$(sed -nE "s/.*flextrace:process: .*vpid = $parent,.*start_ns = ([0-9]+),.*/\1/p" "$dir/plugin.txt" | sort -u | wc -l)
[ "$starts" -eq 1 ] || fail "plugin has $starts generations"
last=$(grep -E "flextrace:process: .*vpid = $parent," "$dir/plugin.txt" | grep -c "rank = 6")
[ "$last" -ge 2 ] || fail "plugin forgets the rank"

# -- off is off -------------------------------------------------------------------------------------------
session_start off
FLEXTRACE=0 "$every_macro" || fail "FLEXTRACE=0"
FLEXTRACE_DEVICE=off "$every_macro" || fail "FLEXTRACE_DEVICE=off"
session_stop off
expect_count off 14 "scope: "
expect_count off 0 "(device_op|submit|complete|host_estimate|marker_batch|clock_sync): "

exit $failed
