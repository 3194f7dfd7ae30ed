#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# recovery.sh FLEXTRACE PROGRAM: with --crash-safe, what was recorded outlives the daemons of LTTng: lttng-crash recovers
# it, and it converts.
. "$(dirname "$0")/lib.sh"
mkfifo here go
export LTTNG_UST_REGISTER_TIMEOUT=-1

# A recording that ends as it should leaves no buffers.
run 0 "$FLEXTRACE" record --crash-safe -o proper -- "$PROGRAM" scopes=100
[ "$(rows proper/tables/host.csv)" -eq 100 ] || fail "not 100 rows"
[ ! -e proper/buffers ] || fail "buffers are left"
nothing_left

# What others call like that is theirs.
mkdir -p taken/buffers/theirs
run 0 "$FLEXTRACE" record --no-convert -o taken -- "$PROGRAM" scopes=1
[ -d taken/buffers/theirs ] || fail "removed what is not its own"
rm -r taken/trace taken/.flextrace-emitted taken/.flextrace-id
run 4 "$FLEXTRACE" record --crash-safe -o taken -- "$PROGRAM" say=ran
says 'Cannot make the directory of the buffers: path=.*/taken/buffers, reason=File exists' err.log
[ "$(find taken -mindepth 1 | wc -l)" -eq 2 ] && [ ! -s out.log ] || fail "the program ran, or something is left"

# The directory of a recording is an input also when its tables are in it already.
for again in proper-again proper; do
	run 0 "$FLEXTRACE" convert -o $again proper
	[ "$(rows $again/tables/host.csv)" -eq 100 ] || fail "not 100 rows of what was converted before"
done

# They need room where they are, not in /dev/shm.
run 2 "$FLEXTRACE" record --crash-safe --subbuf-size=2G --num-subbuf=1024 -o large -- "$PROGRAM" say=ran
says 'Not enough room for the buffers on the disk: path=.*/large' err.log
[ ! -e large ] && [ ! -s out.log ] || fail "the program ran unrecorded"

# All daemons die; the program goes on.
run 0 "$FLEXTRACE" start --crash-safe --subbuf-size=16K --num-subbuf=16 -o crashed
"$PROGRAM" names=5 scopes=3000 write=here read=go &
program=$!
cat here >/dev/null
run 2 "$FLEXTRACE" convert -o early crashed
says 'still runs, end it with `flextrace stop crashed`' err.log
kill_daemons "$(daemon_of crashed)"
mkdir no-tools
ln -s "$(command -v sh)" no-tools/sh
run 2 env PATH="$PWD/no-tools" "$FLEXTRACE" convert -o early crashed
says 'Cannot find lttng-crash.*lttng-tools' err.log
[ ! -e crashed/trace/recovered ] && [ ! -e early/run.json ] || fail "something was made of nothing"

# A recording from elsewhere, with links that lead out of it, or with pipes: nothing is written there or waited for.
mkdir -p victim/ust/uid/0/64-bit victim/recovered.tmp
echo kept >victim/ust/uid/0/64-bit/metadata
echo kept >victim/recovered.tmp/file
for evil in trace trace/ust trace/chunk/ust trace/recovered.tmp buffers/ust; do
	cp -r crashed evil
	rm -rf "evil/$evil"
	mkdir -p "$(dirname "evil/$evil")"
	ln -s "$PWD/victim" "evil/$evil"
	[ "${evil##*/}" != ust ] || ln -sfn "$PWD/victim/ust" "evil/$evil"
	run 2 "$FLEXTRACE" convert -o evil-out evil
	says 'Cannot recover a recording with links in it' err.log
	[ "$(cat victim/ust/uid/0/64-bit/metadata victim/recovered.tmp/file | uniq -c | tr -d ' ')" = 2kept ] ||
		fail "something outside the recording was changed: $evil"
	[ "$(find victim -type f | wc -l)" -eq 2 ] || fail "something was made outside the recording: $evil"
	rm -r evil
done
cp -r crashed evil
mkfifo "$(find evil/trace -type d -name '*-bit')/metadata.tmp"
run 2 "$FLEXTRACE" convert -o evil-out evil
says 'Cannot recover a recording with links in it' err.log
"$FLEXTRACE" convert -o evil-out evil/trace >out.log 2>err.log || : # whether anything was written before
says 'warning: Converting without the buffers in .*/evil: Cannot recover a recording with links in it' err.log

mkdir job
cp -R crashed by-trace
cp -R crashed job/host-a
run 0 "$FLEXTRACE" convert -o out crashed
says 'recovered from the buffers' err.log
[ "$(rows out/tables/host.csv)" -eq 3000 ] || fail "$(rows out/tables/host.csv) rows, not 3000"
[ ! -e out/tables/losses.csv ] || fail "losses: $(cat out/tables/losses.csv)"
expect_events crashed scope 3000
expect_events crashed process 1

# By its trace, or by a directory above it, as that of a job: the same, and its buffers are no broken trace afterwards.
run 0 "$FLEXTRACE" convert -o out-trace by-trace/trace
run 0 "$FLEXTRACE" convert -o out-job job
says 'recovered from the buffers' err.log
run 0 "$FLEXTRACE" convert -o out-job-again job
! grep -q warning err.log || fail "the buffers were read as a trace"
for other in trace job job-again; do
	cmp out/tables/host.csv out-$other/tables/host.csv || fail "other rows in out-$other"
	[ ! -e out-$other/tables/losses.csv ] || fail "losses in out-$other"
done

# Once more, and by its trace alone: the same.
run 0 "$FLEXTRACE" convert -o again crashed
! grep -q recovered err.log || fail "recovered twice"
run 0 "$FLEXTRACE" convert -o plain crashed/trace
run 2 "$FLEXTRACE" stop crashed
says 'LTTng failed while it recorded' err.log
for other in again plain crashed; do
	cmp out/tables/host.csv $other/tables/host.csv || fail "other rows in $other"
done
: >go
wait $program

# What had been written is gone, the buffers are not.
rm -r crashed/trace
run 0 "$FLEXTRACE" convert -o rest crashed
[ "$(rows rest/tables/host.csv)" -gt 0 ] || fail "nothing recovered from the buffers alone"

# Only the session daemon dies under a program that is recorded: record recovers by itself.
"$FLEXTRACE" record --crash-safe -o alone -- "$PROGRAM" scopes=3000 write=here read=go >out.log 2>err.log &
record=$!
cat here >/dev/null
kill -KILL "$(daemon_of alone)"
: >go
wait $record
status=$?
[ "$status" -eq 2 ] || fail "exit code $status, not 2"
says 'LTTng failed while it recorded' err.log
[ "$(rows alone/tables/host.csv)" -eq 3000 ] || fail "$(rows alone/tables/host.csv) rows, not 3000"

# A flight recorder that crashed: its newest records, and what was overwritten.
run 0 "$FLEXTRACE" start --crash-safe --flight-recorder=1M -o flight
"$PROGRAM" scopes=40000 write=here read=go &
program=$!
cat here >/dev/null
kill_daemons "$(daemon_of flight)"
run 0 "$FLEXTRACE" convert -o flight flight
[ "$(rows flight/tables/host.csv)" -gt 1000 ] || fail "only $(rows flight/tables/host.csv) rows of a flight recorder"
grep -q ',overwritten,' flight/tables/losses.csv || fail "nothing is told of what was overwritten"
: >go
wait $program
