#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# rotation.sh FLEXTRACE PROGRAM: a recording in chunks: each converts by itself while the recording goes on, and together
# they are the whole.
. "$(dirname "$0")/lib.sh"
mkfifo here go told here-2 go-2 told-2

# await_chunk N: record says that chunk N is converted. N is a pattern.
await_chunk() {
	hear
	echo "$line" | grep -q "chunk $1: .*/chunks/$1\$" || fail "record says: $line"
}

# let_end: what is recorded goes on to its end; what record says meanwhile is in rest.log.
let_end() {
	: >go
	cat <&3 >rest.log
	exec 3<&-
	wait $record || fail "record failed"
}

# expect_whole DIR ROWS: the chunks together have that many rows, and so has the whole.
expect_whole() {
	sum=0
	for chunk in "$1"/chunks/*; do
		sum=$((sum + $(rows "$chunk/tables/host.csv")))
		[ -s "$chunk/trace.json" ] && [ -s "$chunk/run.json" ] || fail "files are missing in $chunk"
	done
	[ "$(rows "$1/tables/host.csv")" -eq "$2" ] || fail "$1 has $(rows "$1/tables/host.csv") rows, not $2"
	[ "$sum" -eq "$2" ] || fail "the chunks of $1 have $sum rows, not $2"
	[ "$(events "$1" scope)" -eq "$2" ] || fail "babeltrace2 finds $(events "$1" scope) scopes in $1"
	[ -z "$(find "$1" -name '*.tmp')" ] || fail "half-written files are left"
}

# expect_names DIR: each of its chunks has all names, of programs that named them before it began.
expect_names() {
	[ "$(find "$1/trace/archives" -mindepth 1 -maxdepth 1 | wc -l)" -eq 3 ] || fail "not 3 chunks in $1"
	for archive in "$1"/trace/archives/*; do
		n=$(babeltrace2 "$archive" 2>/dev/null | sed -n 's/.* flextrace:queue_name: .*name = "\(queue [0-9]*\)".*/\1/p' |
			sort -u | wc -l)
		[ "$n" -eq 20 ] || fail "$archive has $n names, not 20"
	done
}

# By size: the program goes on when a chunk is converted. 1550 scopes are 20 full buffers of one CPU and a part. 16 close a
# chunk, wherever among them the rotation comes, and so do 16 of the next 20, but then no more: as long as a program lives.
cpu=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
"$FLEXTRACE" record --rotate=64K --subbuf-size=4K --num-subbuf=64 --fail-on-loss -o sized -- taskset -c "$cpu" "$PROGRAM" \
	names=20 scopes=1550 write=here read=go scopes=1550 write=here read=go scopes=100 2>told >out.log &
record=$!
exec 3<told
cat here >/dev/null
await_chunk 0
[ "$(rows sized/chunks/0/tables/host.csv)" -gt 0 ] || fail "the first chunk is empty"
: >go
cat here >/dev/null
await_chunk 1
let_end
says 'chunk 2: ' rest.log
says 'What ran' rest.log
expect_whole sized 3200
expect_names sized
nothing_left

# By time. What is not converted is in the archives all the same. Of chunks that ended before the program came nothing is said.
"$FLEXTRACE" record --rotate=1s -o timed -- "$PROGRAM" names=20 scopes=10 write=here read=go scopes=7 2>told >out.log &
record=$!
exec 3<told
cat here >/dev/null
await_chunk '[0-9]*'
let_end
expect_whole timed 17
run 0 "$FLEXTRACE" record --rotate=1K --no-convert -o raw -- "$PROGRAM" scopes=9
expect_events raw scope 9
[ ! -e raw/chunks ] || fail "converted"

# In a job one of its ranks rotates; when it has ended, another one does.
export OMPI_COMM_WORLD_RANK=0 PMIX_NAMESPACE=job
"$FLEXTRACE" record --rotate=64K --subbuf-size=4K --num-subbuf=64 -o job -- taskset -c "$cpu" "$PROGRAM" \
	names=20 scopes=1550 write=here read=go 2>told >out.log &
first=$!
exec 3<told
cat here >/dev/null
await_chunk 0
"$FLEXTRACE" record --rotate=64K --subbuf-size=4K --num-subbuf=64 -o job -- taskset -c "$cpu" "$PROGRAM" \
	names=20 write=here-2 read=go-2 scopes=1550 write=here-2 read=go-2 2>told-2 >out-2.log &
second=$!
exec 4<told-2
cat here-2 >/dev/null
: >go
cat <&3 >rest.log
exec 3<&4
wait $first || fail "the first rank failed"
: >go-2
cat here-2 >/dev/null
await_chunk 1
: >go-2
cat <&3 >rest-2.log
exec 3<&- 4<&-
wait $second || fail "the second rank failed"
expect_whole job 3100
expect_names job
nothing_left
unset OMPI_COMM_WORLD_RANK PMIX_NAMESPACE

# Wrong usage.
for wrong in 0s 10 1minute 1X -1s 1.5G 9999999999999G 99999999h '' s; do
	run 1 "$FLEXTRACE" record --rotate="$wrong" -- true
done
run 1 "$FLEXTRACE" record --rotate=1G --flight-recorder -- true
