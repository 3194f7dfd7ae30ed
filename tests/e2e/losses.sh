#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# losses.sh BUILD: what real components lose is known from elsewhere and told everywhere: LTTng in discard mode (emitted =
# read + lost), in overwrite mode (its own count of packets), marker rings under each policy, a stream file that is cut.
. "$(dirname "$0")/lib.sh"
cd "$LTTNG_TEST_DIR"

# told DIR CAUSE N: N is in all files of DIR, and in its report.
told() {
	[ "$(lost "$1" "$2")" = "$3" ] || fail "$2: losses.csv of $1 says $(lost "$1" "$2"), not $3"
	found=$(awk -v key="\"$2\":" '$1 == "\"losses\":" { inside = 1 } inside && $1 == key { print $2 + 0; exit }' "$1/run.json")
	[ "${found:-0}" = "$3" ] || fail "$2: run.json of $1 says ${found:-0}, not $3"
	found=$(awk -v cause="\"name\":\"$2\"" '/"cat":"loss"/ && index($0, cause) { sub(/.*"count":/, ""); n += $0 + 0 }
		END { printf "%.0f\n", n }' "$1/trace.json")
	[ "$found" = "$3" ] || fail "$2: trace.json of $1 shows $found, not $3"
	found=$("$FLEXTRACE" report "$1" | awk -v cause="$2" '$1 == cause { print $2 }')
	[ "${found:-0}" = "$3" ] || fail "$2: the report of $1 says ${found:-0}, not $3"
}

# strict TRACE N: exit code 3 if one less may be lost, 0 if N may.
strict() {
	status=0
	"$FLEXTRACE" convert --quiet --formats=text --fail-on-loss=$(($2 - 1)) -o strict "$1" 2>convert.log || status=$?
	[ "$status" -eq 3 ] || fail "$1: --fail-on-loss=$(($2 - 1)) gave exit code $status, not 3"
	grep -q "lost=$2," convert.log || fail "$1: the message is $(cat convert.log)"
	"$FLEXTRACE" convert --quiet --formats=text "--fail-on-loss=$2" -o strict "$1" 2>convert.log || fail "$1: --fail-on-loss=$2 fails"
}

# One session daemon for all: nothing here is about daemons that come and go.
lttng-sessiond --daemonize || fail "no session daemon"

# LTTng, overwrite mode, by hand.
typed() { # typed WORD...: a line of lttng
	lttng "$@" >lttng.log 2>&1 || fail "lttng $* gave exit code $?: $(cat lttng.log)"
}
overwrite() { # overwrite DIR: records scopes into it, and keeps the newest
	typed create session --output="$PWD/$1"
	typed enable-channel --userspace --subbuf-size=16K --num-subbuf=64 definitions
	typed enable-event --userspace --channel=definitions 'flextrace:process,flextrace:device,flextrace:clock_domain,flextrace:thread_name,flextrace:queue_name,flextrace:marker_name'
	typed enable-channel --userspace --overwrite --subbuf-size=4K --num-subbuf=2 events
	typed enable-event --userspace --channel=events flextrace:scope
	typed add-context --userspace --type=vpid --type=vtid
	typed start
}
overwrite over
export LTTNG_UST_REGISTER_TIMEOUT=-1
# On one CPU, whose stream has begun when nobody reads it any more: LTTng counts no packets before the first.
cpu=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
begun=$(taskset -c "$cpu" "$E2E/emit_many" 1 1000 | sed -n 's/^emitted //p')
while [ -z "$(find over -path '*-bit/events_*' -size +0)" ]; do :; done
emitted=$("$SOURCE/tests/scripts/unread.sh" taskset -c "$cpu" "$E2E/emit_many" 1 200000 | sed -n 's/^emitted //p')
typed stop
told=$(sed -n 's/.*: \([0-9]*\) packets were lost.*/\1/p' lttng.log)
typed destroy
"$FLEXTRACE" convert --quiet -o over_out over || fail "an overwritten trace does not convert"
read=$(($(wc -l <over_out/tables/host.csv) - 1))
lost=$(lost over_out lttng_discarded_packets)
events=$(lost over_out lttng_discarded_events)
echo "overwrite: emitted=$((begun + emitted)) read=$read packets=$lost told=$told events=$events"
[ "$lost" -gt 0 ] || fail "nothing was overwritten: the test proves nothing"
[ "$told" = "$lost" ] || fail "LTTng's own figure is '$told', losses.csv says $lost"
told over_out lttng_discarded_packets "$lost"
check_output over_out
strict over $((lost + events + $(lost over_out lttng_missing_packets)))

# The same without a packet that was read before: of what is gone in front LTTng counts nothing, but its packets have numbers.
overwrite late
"$E2E/emit_many" 1 0 >late.log
"$SOURCE/tests/scripts/unread.sh" taskset -c "$cpu" "$E2E/emit_many" 1 200000 >late.log
typed stop
! grep -q 'packets were lost' lttng.log || fail "LTTng counts packets before the first: $(cat lttng.log)"
typed destroy
"$FLEXTRACE" convert --quiet -o late_out late || fail "a trace without a begin does not convert"
missing=$(od -An -t u8 -j 64 -N 8 late/ust/uid/*/*-bit/events_"$cpu" | tr -d ' ')
echo "overwrite from the beginning: packets=$missing"
[ "$missing" -gt 1000 ] || fail "the first packet has number $missing"
told late_out lttng_missing_packets "$missing"
check_output late_out
strict late $((missing + $(lost late_out lttng_discarded_packets) + $(lost late_out lttng_discarded_events)))

# LTTng, discard mode; what it counts is right but for bit 63, which it sometimes sets.
"$FLEXTRACE" record --output=out --subbuf-size=4K --num-subbuf=2 -- "$SOURCE/tests/scripts/unread.sh" "$E2E/emit_many" 2 400000 >record.log 2>&1 ||
	{ cat record.log; fail "record failed"; }
emitted=$(sed -n 's/^emitted //p' record.log)
read=$(($(wc -l <out/tables/host.csv) - 1))
lost=$(lost out lttng_discarded_events)
told=$(sed -n 's/.*warning: \([0-9]*\) events were lost.*/\1/p' record.log)
echo "discard: emitted=$emitted read=$read lost=$lost told=$told"
[ "$lost" -gt 0 ] || fail "nothing was lost: the test proves nothing"
[ $((read + lost)) -eq "$emitted" ] || fail "$((emitted - read - lost)) records are not accounted for"
[ "$told" = "$lost" ] || fail "LTTng's own figure is '$told', losses.csv says $lost"
told out lttng_discarded_events "$lost"
check_output out
strict out/trace "$lost"
grep '"cat":"loss"' out/trace.json | grep -qv '"time":"unknown"' || fail "nobody knows when LTTng lost events"

# The program counted the same.
counted=$(awk '$1 == "\"scope\":" { inside = 1 } inside && $1 == "\"emitted\":" { n += $2; inside = 0 } END { print n + 0 }' out/run.json)
[ "$counted" = "$emitted" ] || fail "the program's own counters say $counted, not $emitted"

# A stream file of that is gone: what LTTng counts of it is gone with it, what the program counted is not.
cp -r out gone
rm "$(find gone/trace -path '*-bit/events_*' -size +4k | head -n 1)"
"$FLEXTRACE" convert --quiet -o gone_out gone || fail "a recording without a stream file does not convert"
# Where all rows were in that file, there is no table.
rows=0
[ ! -f gone_out/tables/host.csv ] || rows=$(($(wc -l <gone_out/tables/host.csv) - 1))
told gone_out unaccounted $((emitted - rows - $(lost gone_out lttng_discarded_events)))
grep -q '"closes":[[:space:]]*false' gone_out/run.json || fail "the books of a recording without a stream file close"

# A stream file of that without its last byte.
cp -r out/trace cut
file=$(find cut -path '*-bit/events_*' -size +4k | head -n 1)
truncate -s -1 "$file"
"$FLEXTRACE" convert --quiet -o cut_out cut 2>cut.log || fail "a cut trace does not convert: $(cat cut.log)"
told cut_out truncated_stream 1
check_output cut_out
strict cut $(($(lost cut_out lttng_discarded_events) + 1))

# Marker rings. A healthy LTTng in between loses nothing.
"$FLEXTRACE" record --output=rings -- "$E2E/overrun" >rings.log 2>&1 || { cat rings.log; fail "record failed"; }
records=0 runs=0
for core in 0 1 2 3 4; do
	# shellcheck disable=SC2046 # words
	set -- $(grep "^core $core " rings.log)
	[ $# -eq 4 ] || fail "the program says nothing of core $core"
	for what in "device_ring_dropped $3" "device_run_overwritten $4"; do
		got=$(awk -F, -v core="$core" -v cause="${what% *}" '$4 == cause && $6 == core { n += $8 } END { print n + 0 }' rings/tables/losses.csv)
		[ "$got" -eq "${what#* }" ] || fail "core $core: losses.csv says $got of $what"
	done
	records=$((records + $3)) runs=$((runs + $4))
done
echo "rings: records=$records runs=$runs"
told rings device_ring_dropped "$records"
told rings device_run_overwritten "$runs"
check_output rings
strict rings/trace $((records + runs))

# Steps that a schedule leaves out are no loss, between its windows neither.
"$FLEXTRACE" record --output=steps --schedule=2,1,3,2 --fail-on-loss -- "$MINIFLEX" --iterations=20 --quiet >record.log 2>&1 ||
	{ cat record.log; fail "steps that nobody asked for count as lost"; }
[ "$(lost steps unrecorded)" -gt 0 ] || fail "nothing was left out: the test proves nothing"
check_output steps
