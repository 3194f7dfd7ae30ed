#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# conversion.sh FLEXTRACE MAKE_TRACE FAULT_AT [STEP]: a conversion is killed before every STEP-th call that changes files, or its
# child is, or the disk is full or the output directory gone from some call on. A file has its final name only when it is
# whole, run.json comes last, and the next conversion writes the same bytes.
set -u
FLEXTRACE=$1
MAKE_TRACE=$2
FAULT_AT_LIBRARY=$3
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export TMPDIR="$dir/tmp"
mkdir "$TMPDIR"
mkfifo alive
# The sanitizers' runtime need not come first for this.
export ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"

fail() {
	echo "FAIL: $*" >&2
	exit 1
}

# One stream is cut, so that a copy of it is among what is written.
"$MAKE_TRACE" good trace || exit 1
stream=trace/channel0_0
truncate -s -100 "$stream" || exit 1

convert() { # convert OUT [OPTION...]
	out=$1
	shift
	"$FLEXTRACE" convert --quiet --output-dir="$out" "$@" trace 2>err.log
}

# Every file that has its final name is the one of the whole conversion.
expect_whole() {
	for file in "$1"/* "$1"/tables/*; do
		[ -f "$file" ] || continue
		case $file in
		*.tmp) ;;
		*) cmp -s "$file" "whole/${file#"$1"/}" || fail "$file is not whole after a fault at call $n" ;;
		esac
	done
	[ ! -e "$1/run.json" ] || diff -rq "$1" whole || fail "run.json was not the last file"
}

# kill_all STEP OPTION...: kills it, all processes of it, at every STEP-th call; the next one starts in what that left.
kill_all() {
	step=$1
	shift
	rm -rf out
	LD_PRELOAD="$FAULT_AT_LIBRARY" FAULT_COUNT=count convert counted "$@" || fail "the conversion fails: $(cat err.log)"
	diff -rq counted whole || exit 1
	n_calls=$(cat count)
	n_killed=0
	n=1
	while [ "$n" -le "$n_calls" ]; do
		status=0
		cat alive >/dev/null &
		FAULT=kill FAULT_AT=$n LD_PRELOAD="$FAULT_AT_LIBRARY" setsid "$FLEXTRACE" convert --quiet --output-dir=out "$@" \
			trace 2>err.log 9>alive || status=$?
		wait $! # until the last process of it is gone
		case $status in
		137) n_killed=$((n_killed + 1)) ;;
		0) ;; # other threads made fewer calls this time
		*) fail "exit code $status at call $n: $(cat err.log)" ;;
		esac
		expect_whole out
		if [ $((n % 8)) -eq 0 ]; then
			convert out "$@" || fail "the next conversion fails after a kill at call $n: $(cat err.log)"
			diff -rq out whole || fail "the next conversion differs after a kill at call $n"
			rm -rf out
		fi
		n=$((n + step))
	done
	echo "killed $n_killed times in $n_calls calls: $*"
	[ "$n_killed" -gt $((n_calls / step * 9 / 10)) ] || fail "killed only $n_killed times"
}

# stop_all STEP FAULT REASON: every STEP-th call; what is there is whole, nothing half, and the user is told why.
stop_all() {
	n=2
	while [ "$n" -le "$n_calls" ]; do
		rm -rf out out.gone
		status=0
		FAULT=$2 FAULT_DIR=out FAULT_AT=$n LD_PRELOAD="$FAULT_AT_LIBRARY" convert out --workers=1 || status=$?
		dir=out
		[ ! -d out.gone ] || dir=out.gone
		if [ "$status" -eq 0 ]; then
			diff -rq $dir whole || fail "success without all files, $2 at call $n"
		else
			grep -q "$3" err.log || fail "$2 at call $n is not told: $(cat err.log)"
			# A process that is killed behind its last file leaves all of them, whole.
			[ "$2" = child ] || [ ! -e $dir/run.json ] || fail "run.json in spite of an error, $2 at call $n"
		fi
		case $status in
		0 | 2 | 4) ;;
		*) fail "exit code $status, $2 at call $n: $(cat err.log)" ;;
		esac
		expect_whole $dir
		[ "$dir" = out.gone ] || [ -z "$(find out -name '*.tmp' 2>/dev/null)" ] || fail "half files, $2 at call $n"
		n=$((n + $1))
	done
}

convert whole || fail "the conversion fails: $(cat err.log)"
[ -s whole/run.json ] || fail "no run.json"
kill_all "${4:-3}" --workers=1
kill_all 5 --workers=2
stop_all 9 full 'reason=No space left on device'
stop_all 9 remove 'reason=No such file or directory'
stop_all 9 child 'The conversion was killed'

# What others write there is theirs.
rm -rf out
mkdir out
touch -d '1 minute' out/theirs.tmp
chmod 644 out/theirs.tmp
FAULT=child FAULT_AT=$((n_calls / 2)) LD_PRELOAD="$FAULT_AT_LIBRARY" convert out --workers=1 && fail "it was not killed"
[ "$(find out -name '*.tmp')" = out/theirs.tmp ] || fail "left of a conversion, or removed: $(ls out)"
rm out/theirs.tmp

convert out || fail "the last conversion fails: $(cat err.log)"
left=$(find "$TMPDIR" -mindepth 1)
[ -z "$left" ] || fail "temporary files stay after the next conversion: $left"
