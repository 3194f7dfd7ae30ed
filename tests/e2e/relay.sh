#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# relay.sh BUILD: records to lttng-relayd on another host, a network namespace of its own, and reads it there live.
set -eu
command -v ip >/dev/null || { echo "skipped: no ip (package iproute2)"; exit 77; }
if [ -z "${FLEXTRACE_TEST_NETWORK:-}" ]; then
	unshare -n true 2>/dev/null || { echo "skipped: network namespaces cannot be made"; exit 77; }
	FLEXTRACE_TEST_NETWORK=1 exec unshare -n "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"
cd "$LTTNG_TEST_DIR"
PROGRAM="$BUILD/tests/program"
mkfifo there here go seen

# Two hosts and a cable between them.
unshare -n sh -c 'echo $$ >there; exec tail -f /dev/null' &
read -r host <there
ip link add near type veth peer name far netns "$host" 2>link.log || { cat link.log; echo "skipped: no veth"; exit 77; }
on_host() {
	nsenter -n -t "$host" "$@"
}
ip addr add 10.77.0.1/24 dev near
ip link set near up
on_host ip addr add 10.77.0.2/24 dev far
on_host ip link set far up
on_host ip link set lo up
on_host lttng-relayd --daemonize --output="$PWD/relay" -C tcp://0.0.0.0:5442 -D tcp://0.0.0.0:5443 -L tcp://0.0.0.0:5444

# A recording that leaves nothing here, and all there.
"$FLEXTRACE" record --relay=10.77.0.2:5442:5443 -o state -- "$PROGRAM" scopes=1000 2>err.log ||
	{ cat err.log; fail "record failed"; }
name=$(sed -n 's/.*flextrace convert. reads it: \(.*\)$/\1/p' err.log)
[ -n "$name" ] || { cat err.log; fail "record does not say where the trace is"; }
[ ! -e state ] || fail "something is left here"
# shellcheck disable=SC2086 # a pattern
"$FLEXTRACE" convert -o stored relay/${name#lttng-traces/} >stored.log
emitted=$(sed -n 's/.*: 1 programs emitted \([0-9]*\) records.*/\1/p' err.log)
grep -q "\"records\":[[:space:]]*$emitted,\{0,1\}\$" stored/run.json ||
	{ cat err.log; grep '"records"' stored/run.json; fail "record says that $emitted were emitted"; }
grep -q 'nobody noted it' stored.log || fail "nobody says that nobody noted what was emitted"
[ "$(wc -l <stored/tables/host.csv)" -eq 1001 ] || fail "$(wc -l <stored/tables/host.csv) lines, not 1001"

# No relay: nothing is recorded, and it says why.
status=0
"$FLEXTRACE" record --relay=10.77.0.2:1:1 -o state -- "$PROGRAM" say=ran >out.log 2>err.log || status=$?
[ "$status" -eq 2 ] && [ ! -s out.log ] || { cat err.log; fail "exit code $status without a relay"; }

# Live: what is recorded while somebody reads is converted when the recording ends.
"$FLEXTRACE" start --relay=10.77.0.2:5442:5443 -o live-state 2>err.log || { cat err.log; fail "start failed"; }
session=$(sed -n 's/^session //p' live-state/.flextrace-recording)
status=0
"$FLEXTRACE" start --relay=10.77.0.2:5442:5443 -o live-state 2>err.log || status=$?
[ "$status" -eq 4 ] && grep -q 'A recording runs there' err.log || { cat err.log; fail "exit code $status for a second one"; }
LTTNG_UST_REGISTER_TIMEOUT=-1 "$PROGRAM" write=here read=go scopes=2000 write=here read=go &
program=$!
cat here >/dev/null
asan=$(ldd "$BABELTRACE_PLUGIN_PATH"/*.so 2>/dev/null | awk '/libasan/ { print $3; exit }')
on_host env LD_PRELOAD="$asan" babeltrace2 -c source.ctf.lttng-live --log-level=D \
	-p "inputs=[\"net://127.0.0.1:5444/host/$(hostname)/$session\"],session-not-found-action=\"end\"" \
	-c sink.flextrace.timeline -p 'output-dir="live"' >seen 2>&1 &
viewer=$!
exec 3<seen
grep -q -m 1 'Getting .* new stream' <&3 || fail "babeltrace2 does not attach"
cat <&3 >viewer.log &
# Whoever comes late gets no old records; a second answer tells that the first request is done.
for _ in 1 2; do
	lttng --no-sessiond regenerate statedump --session="$session" >/dev/null
done
: >go
cat here >/dev/null
: >go
wait $program
# What nobody has read when the recording ends, the relay may forget.
while [ "$(grep -c 'Creating event message from .* ec-name="flextrace:scope"' viewer.log)" -lt 2000 ] && kill -0 $viewer; do :; done
"$FLEXTRACE" stop live-state 2>err.log || { cat err.log; fail "stop failed"; }
wait $viewer || { grep -v ' [DI] ' viewer.log; fail "babeltrace2 failed"; }
[ "$(wc -l <live/tables/host.csv)" -eq 2001 ] || fail "$(wc -l <live/tables/host.csv) lines of live records, not 2001"
! grep -q no_definitions live/run.json || fail "nobody says whose records these are"
check_output live
[ ! -e live-state ] || fail "something is left here"

# Whoever comes late and does not ask for definitions has no names, but no channel is missing.
"$FLEXTRACE" start --relay=10.77.0.2:5442:5443 -o late-state 2>err.log || { cat err.log; fail "start failed"; }
session=$(sed -n 's/^session //p' late-state/.flextrace-recording)
LTTNG_UST_REGISTER_TIMEOUT=-1 "$PROGRAM" write=here read=go scopes=2000 write=here read=go &
program=$!
cat here >/dev/null
# Until definitions are with the relay: a viewer that is there before has them.
while [ -z "$(find relay -path "*$session*" -name 'definitions_*' -size +0)" ]; do :; done
on_host env LD_PRELOAD="$asan" babeltrace2 -c source.ctf.lttng-live --log-level=D \
	-p "inputs=[\"net://127.0.0.1:5444/host/$(hostname)/$session\"],session-not-found-action=\"end\"" \
	-c sink.flextrace.timeline -p 'output-dir="late"' >seen 2>&1 &
viewer=$!
exec 3<seen
grep -q -m 1 'Getting .* new stream' <&3 || fail "babeltrace2 does not attach"
cat <&3 >viewer.log &
: >go
cat here >/dev/null
: >go
wait $program
while [ "$(grep -c 'Creating event message from .* ec-name="flextrace:scope"' viewer.log)" -lt 2000 ] && kill -0 $viewer; do :; done
"$FLEXTRACE" stop late-state 2>err.log || { cat err.log; fail "stop failed"; }
wait $viewer || { grep -v ' [DI] ' viewer.log; fail "babeltrace2 failed"; }
grep -q no_definitions late/run.json || fail "nobody says that names are missing"
[ "$(lost late channel_not_created)" -eq 0 ] || fail "channels are said to be missing"

# The network breaks, and heals once that was told: nothing is lost.
# shellcheck disable=SC2016 # what the recorded shell does
"$FLEXTRACE" record --relay=10.77.0.2:5442:5443 -o broken -- sh -c '
	"$0" scopes=10
	nsenter -n -t "$1" ip link set far down
	"$0" scopes=1000
	until grep -q "The host of lttng-relayd does not answer" err.log; do :; done
	nsenter -n -t "$1" ip link set far up' "$PROGRAM" "$host" 2>err.log || { cat err.log; fail "record failed"; }
name=$(sed -n 's/.*flextrace convert. reads it: \(.*\)$/\1/p' err.log)
# shellcheck disable=SC2086 # a pattern
"$FLEXTRACE" convert -o healed relay/${name#lttng-traces/} >healed.log
[ "$(wc -l <healed/tables/host.csv)" -eq 1011 ] || fail "$(wc -l <healed/tables/host.csv) lines, not 1011"

# The relay ends before the recording: that is told when it happens, and is no success.
relays=$(pgrep -x lttng-relayd)
status=0
# shellcheck disable=SC2016 # what the recorded shell does
"$FLEXTRACE" record --relay=10.77.0.2:5442:5443 -- sh -c '
	"$0" scopes=10
	kill -KILL "$@"
	until grep -q "lttng-relayd closed the connection" err.log; do :; done
	"$0" scopes=10' "$PROGRAM" $relays 2>err.log || status=$?
[ "$status" -eq 2 ] || { cat err.log; fail "exit code $status, not 2, without the relay"; }
grep -q 'lttng-relayd ended, its disk is full or the network broke' err.log || { cat err.log; fail "nothing is said of the relay"; }
