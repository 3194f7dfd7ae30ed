# SPDX-License-Identifier: Apache-2.0
# Shared by the fault tests: a recording that is under way, and what must hold after each fault.
# shellcheck shell=sh
. "$(dirname "$0")/../record/lib.sh"
mkfifo here go err

# What the user does who reads the messages: lets a daemon go on that is said to be stopped.
obey() {
	: >err.log
	while read -r line; do
		echo "$line" >>err.log
		case $line in
		*'`kill -CONT '*)
			line=${line#*'`kill -CONT '}
			kill -CONT "${line%%'`'*}"
			;;
		esac
	done <err
}

# begin DIR COMMAND...: runs it in the background, up to the program's word `write=here`.
begin() {
	dir=$1
	shift
	obey &
	reader=$!
	"$@" >out.log 2>err &
	record=$!
	cat here >/dev/null
	daemon=$(daemon_of "$dir")
	consumer=$(pgrep -u "$(id -u)" -o -x lttng-consumerd)
}

# finish WANTED_CODE: lets the program go on and waits for the end.
finish() {
	: >go
	await $1
}

await() {
	status=0
	wait $record || status=$?
	wait $reader
	[ "$status" -eq "$1" ] || fail "exit code $status, not $1"
}

# has_ended PID: waits until it has, be its parent slow to notice.
has_ended() {
	while read -r _ _ state _ <"/proc/$1/stat" && [ "$state" != Z ]; do :; done 2>/dev/null
}

# expect_rows DIR FILE LEAST MOST
expect_rows() {
	n=$(rows "$1/tables/$2")
	[ "$n" -ge "$3" ] && [ "$n" -le "$4" ] || fail "$n rows in $1/tables/$2, not $3 to $4"
}

# No process, no shared memory (but what every program with LTTng leaves), no half file.
all_clean() {
	nothing_left
	# A consumer daemon's helper ends after it; one that stays keeps the test until its time is up.
	for pid in $(pgrep -u "$(id -u)" -x lttng-consumerd); do
		has_ended "$pid"
	done
	left=$(find /dev/shm -type f -user "$(id -u)" ! -name 'lttng-ust-wait-*' 2>/dev/null)
	[ -z "$left" ] || fail "shared memory is left: $left"
	left=$(find . -name '*.tmp')
	[ -z "$left" ] || fail "half files are left: $left"
}
