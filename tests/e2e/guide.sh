#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# guide.sh BUILD: the examples of docs/examples, recorded: what the guides say is in the files, is there.
. "$(dirname "$0")/lib.sh"
cd "$LTTNG_TEST_DIR"

# record EXAMPLE: into a folder of its name
record() {
	"$FLEXTRACE" record --output="$1" -- "$E2E/example_$1" >record.log 2>&1 ||
		{ cat record.log; fail "record $1 failed"; }
	check_output "$1"
	[ "$(lost "$1" unmatched_begin)" -eq 0 ] || fail "$1: there are beginnings without ends"
	! grep -rqiE 'aiu|privateuse1' "$1/tables" "$1/trace.json" || fail "$1: the names of a vendor"
}

# rows N FILE COLUMN VALUE...: N rows have all these
rows() {
	n=$1 file=$2
	shift 2
	found=$(python3 - "$file" "$@" <<-'PYTHON'
		import csv, sys
		want = list(zip(sys.argv[2::2], sys.argv[3::2]))
		with open(sys.argv[1], newline="") as file:
		    print(sum(all(row[key] == value for key, value in want) for row in csv.DictReader(file)))
	PYTHON
	)
	[ "$found" -eq "$n" ] || fail "$file has $found rows, not $n, with $*"
}

record first
rows 1000 first/tables/host.csv name iteration kind User
rows 1 first/tables/host.csv name iteration args '{"number":999}'
rows 1000 first/tables/counters.csv name left

record queue
for name in input matmul result; do
	rows 50 queue/tables/host.csv kind launch name $name args '{"bytes":65536}'
	rows 50 queue/tables/host.csv kind wait name $name
done
rows 50 queue/tables/host.csv kind User name infer
rows 50 queue/tables/events.csv kind compute name matmul status certified bytes 65536
rows 50 queue/tables/events.csv kind copy_in name input status certified
rows 50 queue/tables/events.csv kind copy_out name result status certified
rows 1 queue/tables/launches.csv name matmul launches 50 works 50
grep -q '"name":"in flight".*{"jobs":3}' queue/trace.json || fail "queue: the counter has no unit"
rows 50 queue/tables/memory.csv op alloc bytes 65536
rows 50 queue/tables/memory.csv op free total_bytes 0
rows 150 queue/tables/counters.csv name 'in flight'

record pieces
rows 40 pieces/tables/events.csv name wide status certified
grep '"name":"wide"' pieces/trace.json | grep -q '"tiles":12' || fail "pieces: device work has no arguments"
for name in aten::mm time_host request 'was timed already' weights all_reduce measured; do
	rows 20 pieces/tables/host.csv name "$name"
done
rows 15 pieces/tables/host.csv name 'long copy'
rows 1 pieces/tables/host.csv name weights args '{"bytes":7000,"category":"weights"}'
rows 2 pieces/tables/clocks.csv certified 20
rows 1 pieces/tables/collectives.csv number 19 op all_reduce
! grep -q crossing_scopes pieces/run.json || fail "pieces: scopes cross"

record firmware
rows 25 firmware/tables/events.csv kind compute name attention status certified
rows 25 firmware/tables/events.csv kind compute name 'feed forward' status certified
rows 25 firmware/tables/events.csv kind Zone name attention
rows 50 firmware/tables/events.csv kind Zone name 'load tile'
rows 50 firmware/tables/events.csv kind FW

record cores
rows 20 cores/tables/events.csv kind Zone name attention
rows 20 cores/tables/events.csv kind Zone name 'feed forward'
rows 40 cores/tables/events.csv kind Zone name 'dma in'
rows 20 cores/tables/events.csv kind Zone name timer
rows 40 cores/tables/counters.csv name 'queue depth'

record lines
for name in load 'load weights' read; do
	rows 1 lines/tables/host.csv kind User name "$name"
done
rows 1 lines/tables/host.csv kind launch name graph

[ ! -x "$E2E/example_executor" ] || {
	record lines_hpp
	rows 1 lines_hpp/tables/host.csv kind execute name xw args '{"rows":64}'
	rows 1 lines_hpp/tables/host.csv name matmul/xw

	record executor
	rows 50 executor/tables/host.csv kind execute
	rows 50 executor/tables/host.csv kind launch name 'matmul xw' args '{"rows":64,"type":"matmul"}'
	rows 50 executor/tables/host.csv kind Op name y
	rows 1 executor/tables/host.csv kind Async name 'request 49'
	rows 50 executor/tables/events.csv kind compute name softmax status certified
	rows 1 executor/tables/counters.csv name computed value 100
	"$FLEXTRACE" convert --quiet --with=ops --output=ops executor/trace || fail "convert --with=ops"
	rows 50 ops/tables/ops.csv 'OP CODE' xw 'OP TYPE' matmul INPUT_1_DATATYPE fp32 status certified
}
