#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# job.sh FLEXTRACE PROGRAM: several records that a launcher started share one recording.
. "$(dirname "$0")/lib.sh"

# rank RANK CODE DIR: one rank of three, which are all there before one goes on.
rank() {
	OMPI_COMM_WORLD_RANK=$1 OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_LOCAL_SIZE=3 PMIX_NAMESPACE=job-$3 \
		"$FLEXTRACE" record --no-convert -o "$3" -- "$PROGRAM" write=here-$1 read=go-$1 scopes=5 exit="$2" \
		>"rank-$1.log" 2>&1
	echo $? >"code-$1"
}

for i in 0 1 2; do
	mkfifo "here-$i" "go-$i"
done
rank 0 3 shared &
first=$!
rank 1 4 shared &
rank 2 5 shared &
for i in 0 1 2; do
	cat "here-$i" >/dev/null
done
lttng --no-sessiond list >list.log 2>&1 || fail "no daemon while the job runs"
[ "$(grep -c flextrace- list.log)" -eq 1 ] || fail "not one session"
# One leaves; the others are still recorded.
: >go-0
wait $first
: >go-1
: >go-2
wait
for i in 0 1 2; do
	[ "$(cat code-$i)" -eq $((i + 3)) ] || fail "rank $i: exit code $(cat code-$i)"
done
expect_events shared scope 15
expect_events shared process 3
sessions=$(babeltrace2 shared/trace | sed -n 's/.* session = "\([^"]*\)".*/\1/p' | sort -u | wc -l)
[ "$sessions" -eq 1 ] || fail "the ranks name $sessions sessions"
ranks=$(babeltrace2 shared/trace | sed -n 's/.* flextrace:process: .* rank = \([0-9]*\).*/\1/p' | sort | tr '\n' ' ')
[ "$ranks" = "0 1 2 " ] || fail "recorded ranks: $ranks"
[ "$(cat rank-*.log | grep -c 'recorded: ')" -eq 1 ] || fail "not exactly one rank ended the recording"
nothing_left

# A rank that is killed together with its record leaves the recording to the others.
status=0
OMPI_COMM_WORLD_RANK=0 PMIX_NAMESPACE=job-dies "$FLEXTRACE" record --no-convert -o dies -- \
	"$PROGRAM" write=here-0 read=go-0 >rank-0.log 2>&1 &
victim=$!
cat here-0 >/dev/null
kill -KILL $victim
wait $victim || true
: >go-0
OMPI_COMM_WORLD_RANK=1 PMIX_NAMESPACE=job-dies "$FLEXTRACE" record --no-convert -o dies -- \
	"$PROGRAM" scopes=4 >rank-1.log 2>&1 || fail "the second rank failed"
expect_events dies scope 4
nothing_left

# A rank that is expected and never comes does not keep the others from ending.
OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=2 PMIX_NAMESPACE=job-alone "$FLEXTRACE" record --no-convert \
	-o alone -- "$PROGRAM" scopes=6 >rank-0.log 2>&1 || fail "the only rank failed"
expect_events alone scope 6

# Each of several hosts has a directory of its own; without -o it is named by the job, a second one is not mixed in.
several() {
	OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_SIZE=1 PMIX_NAMESPACE=job/many \
		"$FLEXTRACE" record --no-convert -- "$PROGRAM" scopes="$1" >rank-0.log 2>&1 || fail "the rank failed"
}
several 2
several 3
expect_events "flextrace-ompi-job_many/host-$(uname -n)" scope 2
expect_events "flextrace-ompi-job_many/host-$(uname -n)-2" scope 3
nothing_left
