#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# flight.sh FLEXTRACE PROGRAM: a flight recorder: what its snapshots hold, when they are taken, and what was overwritten.
. "$(dirname "$0")/lib.sh"
mkfifo here go told

# One CPU, so that it is known what overwrites what.
cpu=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
taskset -cp "$cpu" $$ >/dev/null || fail "cannot be pinned to CPU $cpu"

# names TRACE_PARENT: how many of the first 300 queues are named in it.
names() {
	babeltrace2 "$1/trace" 2>/dev/null | sed -n 's/.* flextrace:queue_name: .*name = "\(queue [0-2]\{0,1\}[0-9]\{1,2\}\)".*/\1/p' | sort -u |
		wc -l
}

# expect_snapshot DIR: it has all names, it is newer than what was overwritten, and the tables agree with the trace.
expect_snapshot() {
	[ "$(names "$1")" -eq 300 ] || fail "$1 has $(names "$1") names, not 300"
	[ "$(events "$1" scope)" -eq "$(rows "$1/tables/host.csv")" ] || fail "$1: tables and trace differ"
	[ -s "$1/trace.json" ] && [ -s "$1/run.json" ] || fail "files are missing in $1"
	grep -q ',overwritten,' "$1/tables/losses.csv" || fail "$1 does not tell what was overwritten"
}

# A program that has named its queues before anything else; then others name so many that its names are long overwritten,
# and it makes more records than there is room for.
"$FLEXTRACE" record --flight-recorder=1M --fail-on-loss -o asked -- sh -c \
	'"$0" names=300 write=here read=go scopes=40000 write=here read=go scopes=3' "$PROGRAM" 2>told >out.log &
record=$!
exec 3<told
cat here >/dev/null
FLEXTRACE_SESSION=$(lttng --no-sessiond list | sed -n 's/.*) \(flextrace-[^ ]*\) .*/\1/p') || fail "no session"
LTTNG_UST_REGISTER_TIMEOUT=-1 "$PROGRAM" names=30000
run 0 "$FLEXTRACE" status
says "^flight recorder $FLEXTRACE_SESSION: .*/asked/snapshots" out.log
: >go
cat here >/dev/null

# By a command: the only one, by its directory, by its session, elsewhere. The recording goes on.
run 0 "$FLEXTRACE" snapshot
says 'overwritten before the snapshot: [1-9]' err.log
says 'What ran' out.log
expect_snapshot asked/snapshots/1
run 0 "$FLEXTRACE" snapshot --no-convert asked
[ "$(names asked/snapshots/2)" -eq 300 ] || fail "the second snapshot lacks names"
[ ! -e asked/snapshots/2/run.json ] || fail "converted"
run 0 "$FLEXTRACE" snapshot -o elsewhere "$FLEXTRACE_SESSION"
[ -s elsewhere/run.json ] || fail "not converted into another directory"
run 1 "$FLEXTRACE" snapshot asked asked
run 2 "$FLEXTRACE" snapshot missing

# By a signal to record.
kill -USR2 $record
hear
echo "$line" | grep -q 'snapshot 4: .*/asked/snapshots/4$' || fail "record says: $line"
expect_snapshot asked/snapshots/4

# What the program does next is in none of them, and a program that ends well leaves no other.
: >go
cat <&3 >rest.log
exec 3<&-
wait $record || fail "record failed"
[ "$(find asked/snapshots -name trace | wc -l)" -eq 4 ] || fail "not 4 snapshots"
nothing_left
run 2 "$FLEXTRACE" snapshot
says 'No flight recorder runs' err.log

# Started with SIGUSR2 ignored it is safe from the signal before it listens, and listens all the same.
sh -c 'trap "" USR2; kill -USR2 $$; exec "$@"' sh "$FLEXTRACE" record --flight-recorder=1M --no-convert -o ignored -- \
	"$PROGRAM" scopes=5 write=here read=go 2>told >out.log &
record=$!
exec 3<told
cat here >/dev/null
kill -USR2 $record
hear
echo "$line" | grep -q 'snapshot 1: .*/ignored/snapshots/1$' || fail "record says: $line"
: >go
cat <&3 >rest.log
exec 3<&-
wait $record || fail "record failed"
nothing_left

# The count: packets of one stream are numbered, so that those before the first are known.
overwritten=$(awk -F, '$4 == "overwritten" { print $8 }' asked/snapshots/1/tables/losses.csv)
run 0 "$FLEXTRACE" convert -o again asked/snapshots/1/trace
[ "$(awk -F, '$4 == "overwritten" { print $8 }' again/tables/losses.csv)" -eq "$overwritten" ] || fail "the count differs"

# Both snapshots together are one trace, and hold each record once.
run 0 "$FLEXTRACE" convert -o both asked/snapshots/1/trace asked/snapshots/4/trace
[ "$(rows both/tables/host.csv)" -eq "$(rows asked/snapshots/1/tables/host.csv)" ] || fail "records are there twice"
[ "$(awk -F, '$4 == "overwritten" { print $8 }' both/tables/losses.csv)" -eq "$overwritten" ] || fail "counted twice"

# What is missing is exactly what was overwritten: full packets, all of as many records, behind an empty one of the time
# when the buffers were made.
run 3 "$FLEXTRACE" record --flight-recorder=1M -o exact -- "$PROGRAM" scopes=40000 exit=3
missing=$((40000 - $(rows exact/snapshots/end/tables/host.csv)))
full=$(($(awk -F, '$4 == "overwritten" { print $8 }' exact/snapshots/end/tables/losses.csv) - 1))
[ "$full" -gt 10 ] && [ $((missing % full)) -eq 0 ] && [ $((missing / full)) -gt 100 ] ||
	fail "$missing records are missing, $full packets overwritten"

# A program that fails is kept: by its exit code, by a signal.
run 3 "$FLEXTRACE" record --flight-recorder -o code -- "$PROGRAM" scopes=20 exit=3
says 'What ran' err.log
[ "$(rows code/snapshots/end/tables/host.csv)" -eq 20 ] || fail "not all records of a program that failed"
[ "$(events code/snapshots/end process)" -ge 1 ] || fail "nobody is named"
run 137 "$FLEXTRACE" record --flight-recorder --no-convert -o signal -- "$PROGRAM" scopes=20 raise=9
expect_events signal/snapshots/end scope 20
run 0 "$FLEXTRACE" record --flight-recorder -o well -- "$PROGRAM" scopes=20
says 'nothing was kept' err.log
[ ! -e well ] || fail "a directory is left"
run 2 "$FLEXTRACE" record --flight-recorder -o none -- sh -c 'exit 2'
says 'No data' err.log
[ ! -e none ] || fail "an empty snapshot is left"

# What is in memory outlives the directory.
run 3 "$FLEXTRACE" record --flight-recorder -o gone -- sh -c '"$0" scopes=20; rm -r gone; exit 3' "$PROGRAM"
[ "$(rows gone/snapshots/end/tables/host.csv)" -eq 20 ] || fail "not all records of a recorder without a directory"
run 0 "$FLEXTRACE" start --flight-recorder=2M -o gone-too
LTTNG_UST_REGISTER_TIMEOUT=-1 "$PROGRAM" scopes=7
rm -r gone-too
run 0 "$FLEXTRACE" snapshot
[ "$(rows gone-too/snapshots/1/tables/host.csv)" -eq 7 ] || fail "not 7 rows without a directory"
run 0 "$FLEXTRACE" stop
nothing_left

# Without a command there is no exit code to go by: the end is kept. So it is by stop.
run 0 "$FLEXTRACE" start --flight-recorder=2M -o started
LTTNG_UST_REGISTER_TIMEOUT=-1 "$PROGRAM" scopes=7
run 0 "$FLEXTRACE" snapshot
LTTNG_UST_REGISTER_TIMEOUT=-1 "$PROGRAM" scopes=8
run 0 "$FLEXTRACE" stop
[ "$(rows started/snapshots/1/tables/host.csv)" -eq 7 ] || fail "not 7 rows in the snapshot"
[ "$(rows started/snapshots/end/tables/host.csv)" -eq 15 ] || fail "not 15 rows at the end"
nothing_left

# A program that stands still, as in a debugger, does not answer LTTng; its records are there all the same.
run 0 "$FLEXTRACE" start --flight-recorder=1M -o still
LTTNG_UST_REGISTER_TIMEOUT=-1 "$PROGRAM" scopes=9 write=here read=go &
program=$!
cat here >/dev/null
"$HALT" $program
run 0 "$FLEXTRACE" snapshot
[ "$(rows still/snapshots/1/tables/host.csv)" -eq 9 ] || fail "not 9 rows of a program that stands still"
kill -CONT $program
: >go
wait $program
run 0 "$FLEXTRACE" stop --no-convert
nothing_left

# Of a job, the first program that fails takes the snapshot; others go on.
run 4 env OMPI_COMM_WORLD_RANK=0 PMIX_NAMESPACE=job "$FLEXTRACE" record --flight-recorder --no-convert -o job -- \
	"$PROGRAM" scopes=6 exit=4
expect_events job/snapshots/end scope 6
nothing_left

# What does not go together.
run 0 "$FLEXTRACE" start -o plain
run 2 "$FLEXTRACE" snapshot plain
says 'Not a flight recorder' err.log
run 2 "$FLEXTRACE" snapshot
run 2 "$FLEXTRACE" stop
run 1 "$FLEXTRACE" record --flight-recorder=1M --subbuf-size=4K -- true
run 1 "$FLEXTRACE" record --flight-recorder=1K -- true
says 'at least' err.log
run 1 "$FLEXTRACE" record --flight-recorder --twice -- true
run 4 "$FLEXTRACE" record --flight-recorder -o code -- "$PROGRAM" say=ran
says 'recording already' err.log
