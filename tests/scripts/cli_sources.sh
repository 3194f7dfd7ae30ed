#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cli_sources.sh FLEXTRACE PLUGIN SHARED: babeltrace2 finds the files of other tools by itself, shows them, and writes
# them as CTF; read in any of these ways they become the same files, byte for byte.
set -eu
FLEXTRACE=$1
PLUGIN=$2
SHARED=$3
corpus=$(cd "$(dirname "$0")/../fuzz/corpus/perfetto" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

command -v babeltrace2 >/dev/null || { echo "babeltrace2 is not installed"; exit 77; }
# A plug-in with sanitizers in a program without them: the runtime must come first.
asan=$(ldd "$PLUGIN" | awk '/libasan/ { print $3; exit }')
export ASAN_OPTIONS="detect_leaks=0:verify_asan_link_order=0"

fail() {
	echo "FAIL: $*" >&2
	exit 1
}

read_with() {
	LD_PRELOAD="$asan" BABELTRACE_PLUGIN_PATH=$(dirname "$PLUGIN") babeltrace2 "$@"
}

# What only says where it was written is no difference.
unname() {
	[ ! -f "$1/tables/index.json" ] || sed -i "s,$1,OUT,g" "$1/tables/index.json"
}

# same NAME INPUT: three ways to the same files.
same() {
	"$FLEXTRACE" convert --quiet --formats chrome,csv,text -o "$1.direct" "$2" 2>/dev/null
	read_with convert "$2" --component=sink.ctf.fs --params="path=\"$1.ctf\"" >/dev/null 2>&1
	"$FLEXTRACE" convert --quiet --formats chrome,csv,text -o "$1.ctf.out" "$1.ctf"
	read_with convert "$2" --component=sink.flextrace.timeline \
		--params="output-dir=\"$1.graph\",formats=\"chrome,csv,text\"" 2>"$1.told"
	unname "$1.direct"
	unname "$1.ctf.out"
	unname "$1.graph"
	[ -s "$1.direct/run.json" ] || fail "$1: nothing was converted"
	diff -rq "$1.direct" "$1.ctf.out" || fail "$1: CTF is not the same"
	diff -rq "$1.direct" "$1.graph" || fail "$1: the graph is not the same"
}

# Two ranks, in no order, with events of every kind, one without an end and two that are rejected.
kernel='"TS1":"0x3e8","TS2":"0x7d0","TS3":"0xbb8","TS4":"0x1b58","TS5":"0x1b5e","Power":"77"'
mkdir flex
cat >flex/rank_1.json <<END
[{"attr":{$kernel},"name":"k Cmpt Exec","ph":"B","pid":1,"tid":15514734831341844875,"ts":13.000},
{"attr":{$kernel},"name":"k Cmpt Exec","ph":"E","pid":1,"tid":15514734831341844875,"ts":17.000},
{"attr":{$kernel},"name":"k Cmpt Prep","ph":"X","pid":1,"tid":7,"ts":12,"dur":1},
{"attr":{$kernel,"Bytes":"524288","CollGroup":"g","Peer":"0","Type":"SingleCast"},
 "name":"SenRdmaSend_1 [sync=g_s0_r0_0] DmaO","ph":"X","pid":1,"tid":7,"ts":1,"dur":1},
{"name":"AIU Roundtrip","ph":"X","pid":1,"tid":9,"ts":5,"dur":30,"args":{"job":4,"\"quoted\"":"\u00e9\n"}},
{"name":"</script>\\u0000, \\"\\ud83d \\u001b","ph":"X","pid":1,"tid":9,"ts":6,"dur":3,"args":{"\\u0000":"a\\u0000,"}},
{"name":"backwards","ph":"X","pid":1,"tid":9,"ts":5,"dur":-30}]
END
cat >flex/rank_0.json <<END
{"traceEvents":[
{"name":"w","ph":"e","pid":0,"tid":1,"ts":90,"id":"0x7"},{"name":"w","ph":"b","pid":0,"tid":1,"ts":40,"id":7},
{"name":"Power","ph":"C","pid":0,"tid":1,"ts":3,"args":{"Watts":3.5}},
{"name":"now","ph":"i","pid":0,"tid":1,"ts":2},{"name":"?","ph":"?","pid":0,"tid":1,"ts":2},
{"name":"never ended","ph":"B","pid":0,"tid":1,"ts":50},
{"name":"process_name","ph":"M","pid":0,"args":{"name":"AIU 0"}},
{"name":"process_sort_index","ph":"M","pid":0,"args":{"sort_index":5}},
{"attr":{$kernel},"name":"k DmaI","ph":"X","pid":0,"tid":7,"ts":11,"dur":1}]}
END
same flex flex
same rank flex/rank_1.json
grep -qF '"name":"\u003c/script>\u0000, \"' flex.direct/trace.json || fail "a hostile name did not come back"
grep -q "rejected: file=.*rank_1.json, events=1" flex.told || fail "nobody told what was rejected"
read_with flex >flex.txt 2>/dev/null
grep -q 'flextrace:device_op: .*name = "k",' flex.txt || fail "no control block is shown"
[ "$(grep -c flextrace:process flex.txt)" = 2 ] || fail "there are not two ranks"

# Files that are called alike, and with all that a name may hold: each row tells its own, also from a copy.
mkdir -p names/0 names/1
cp flex/rank_1.json names/0/run.json
cp flex/rank_0.json names/1/run.json
for one in names/0 names/1; do
	cp flex/rank_0.json "$one/a b, \"c\" %41 \\ é
d.json"
	echo '[]' >"$one/of nobody.json"
	same "${one%/*}${one#*/}" "$one"
	grep -qF '"flex a b, \"c\" %41 \\ é\nd.json", "flex of nobody.json", "flex run.json"]' "names${one#*/}.ctf.out/run.json" || fail "a name is not itself"
done
# A copy that says nonsense of its files: rows are somewhere, and nothing else changes.
sed -i 's/flextrace_input_1 /flextrace_input_7 /; s/flextrace_input_0 = "[^"]*"/flextrace_input_0 = "%zz%"/' names1.ctf/*/metadata
"$FLEXTRACE" convert --quiet -o nonsense names1.ctf || fail "a copy that says nonsense of its files is not read"
grep -qF '"inputs":	["%zz%"]' nonsense/run.json || fail "files of a copy: $(grep inputs nonsense/run.json)"
for file in host events counters; do
	[ "$(sed 's/,[^,]*$//' "nonsense/tables/$file.csv")" = "$(sed 's/,[^,]*$//' "names1.ctf.out/tables/$file.csv")" ] || fail "other $file in a copy"
done
"$FLEXTRACE" convert --quiet -o both names/0/run.json names/1/run.json 2>/dev/null
grep -qF '["flex 0/run.json", "flex 1/run.json"]' both/run.json || fail "files of one name are not told apart"
grep -q ',Exec,k,.*,0:0$' both/tables/events.csv && grep -q ',k,.*,1:8$' both/tables/events.csv || fail "a row is of another file"

# Work that its round trips contradict: what is told of it does not depend on who reads it.
trip='"name":"AIU Roundtrip","ph":"X","pid":0,"tid":9,"dur":30'
far='"TS1":"1000","TS2":"2000","TS3":"3000","TS4":"7000","TS5":"7006"'
cat >trips.json <<END
[{"attr":{$kernel},"name":"k Cmpt Exec","ph":"X","pid":0,"tid":1,"ts":13,"dur":4},{$trip,"ts":5},{$trip,"ts":500000},
{"attr":{$far},"name":"far Cmpt Exec","ph":"X","pid":0,"tid":1,"ts":3000000,"dur":4}]
END
same trips trips.json
grep -A2 '"outside_roundtrip"' trips.graph/run.json | grep -q '"count":[[:space:]]*1,' || fail "work outside of round trips was not told"
grep -q ',Exec,far,.*,outlier,' trips.graph/tables/events.csv || fail "work outside of round trips is not marked"

cat >torch.json <<END
{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"AIU","numSms":32}],"distributedInfo":{"rank":3,"world_size":4},
"baseTimeNanoseconds":1700000000000000000,"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":77,"tid":77,"ts":10.001,"dur":5,"args":{"External id":1}},
{"ph":"X","cat":"privateuse1_runtime","name":"aiuLaunchControlBlocks","pid":77,"tid":77,"ts":11,"dur":1,"args":{"correlation":5}},
{"ph":"X","cat":"kernel","name":"mm","pid":0,"tid":7,"ts":20,"dur":5,"args":{"device":0,"stream":7,"correlation":5}},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#3","pid":77,"tid":77,"ts":9,"dur":50},
{"ph":"M","name":"process_name","pid":77,"args":{"name":"python"}}],"traceName":"x"}
END
same torch torch.json
read_with torch.json | grep -q 'flextrace:device_op: .*name = "mm"' || fail "no work of torch is shown"

# Files of Perfetto that flextrace wrote: rows as sure as they were, of hosts, of control blocks and of cores.
same unmatched "$corpus/unmatched"
grep -q ',assumed,' unmatched.graph/tables/host.csv || fail "no host row is assumed"
"$FLEXTRACE" convert --quiet -o cores "$corpus/ours"
read_with convert "$corpus/ours" --component=sink.flextrace.timeline --params='output-dir="cores.graph"' 2>/dev/null
grep -q ',FW,.*,certified,' cores/tables/events.csv || fail "no firmware is certified"
cmp cores/tables/events.csv cores.graph/tables/events.csv || fail "what cores marked is something else in the graph"

# What is no trace is left to others.
mkdir other
echo '{"a":1}' >other/settings.json
if read_with other >/dev/null 2>&1; then
	fail "a file without events was taken for a trace"
fi
for input in "$SHARED"/flex-json/allreduce_tp4.json "$SHARED"/kineto/mtia_inference_rank_0.json.gz; do
	[ ! -r "$input" ] || same "$(basename "$input" | cut -d. -f1)" "$input"
done
echo "all the same"

# A device log of tt-metal: told by its columns, in a folder and alone; a row is cut and one is bad.
mkdir tt
cat >tt/profile_log_device.csv <<END
ARCH: blackhole, CHIP_FREQ[MHz]: 1350, Max Compute Cores: 140
PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, trace id, trace id counter, zone name, type, source line, source file, meta data
0,1,2,BRISC,1,17592186044000,0,1024,,,BRISC-FW,ZONE_START,1,fw.cc,
0,1,2,BRISC,5,17592186044100,0,1024,,,READ,ZONE_START,7,reader.cpp,
0,1,2,BRISC,5,1684,0,1024,,,READ,ZONE_END,7,reader.cpp,
0,1,2,BRISC,1,2000,0,1024,,,BRISC-FW,ZONE_END,1,fw.cc,
0,1,2,BRISC,1,nothing,0,1024,,,BRISC-FW,ZONE_END,1,fw.cc,
0,1,2,NCRISC,1,1700,7,1024,,,bytes,TS_DATA,9,writer.cpp,
0,1,2,NCR
END
same tt tt/profile_log_device.csv
grep -q "rejected: file=.*profile_log_device.csv, rows=2" tt.told || fail "nobody told which rows were rejected"
read_with tt/profile_log_device.csv 2>/dev/null | grep -q 'flextrace:marker_batch: .*core = 2001' || fail "no run is shown"
grep -q '"core 1,2 BRISC"' tt.direct/trace.json || fail "the line of a RISC has no name"
"$FLEXTRACE" convert --quiet -o tt.inside tt 2>/dev/null
cmp tt.inside/tables/events.csv tt.direct/tables/events.csv || fail "the log in a folder is another one"

# Traces of AI engines: JSON, and raw words beside what their slots mean; one edge has no time.
mkdir aie
cat >aie/trace.json <<END
[{"name":"process_name","ph":"M","pid":0,"args":{"name":"core_trace for tile2,1"}},
{"name":"LOCK_STALL","ph":"B","ts":1,"pid":0,"tid":7},{"name":"LOCK_STALL","ph":"E","ts":2065,"pid":0,"tid":7},
{"name":"INSTR_EVENT_0","ph":"B","ts":2203,"pid":0,"tid":0},{"name":"INSTR_EVENT_0","ph":"E","ts":2204,"pid":0,"tid":0},
{"name":"INSTR_EVENT_1","ph":"B","ts":2275,"pid":0,"tid":1},{"name":"INSTR_EVENT_1","ph":"E","ts":2276,"pid":0,"tid":1},
{"name":"LOCK_STALL","ph":"E","pid":0,"tid":7},{"name":"LOCK_STALL","ph":"B","ts":2280,"pid":0,"tid":7}]
END
same aie aie/trace.json
grep -q "rejected: file=.*trace.json, events=1" aie.told || fail "nobody told what was rejected of an AIE trace"
grep -q ',compute,kernel,.*,assumed,,,2203,2276,' aie.direct/tables/events.csv || fail "no kernel of an AI engine"
grep -q '"total_span_cycles":[[:space:]]*73,' "aie.graph/tables/tile2,1.json" || fail "no file of the core"
"$FLEXTRACE" convert --quiet --as aie-json --clock-ghz 2 -o aie.fast aie 2>/dev/null
read_with convert --component=source.flextrace.aie-json --params='inputs=["aie/trace.json"],clock-ghz=2' \
	--component=sink.flextrace.timeline --params='output-dir="aie.fast.graph"' 2>/dev/null
cmp aie.fast/tables/events.csv aie.fast.graph/tables/events.csv || fail "the clock of the graph is another one"
grep -q '"clock_GHz":[[:space:]]*2,' aie.fast/tables/index.json || fail "the clock was not taken"
if read_with convert --component=source.flextrace.aie-json --params='inputs=["aie/trace.json"],clock-ghz=-2' \
	--component=sink.utils.dummy >/dev/null 2>&1; then
	fail "a clock that runs backwards was taken"
fi
mkdir words
printf '%s\n' 00220001 f0000000 000406ff 70dbfffe 25fefefe 3ffefefe 00000000 00000000 >words/trace.txt
echo '{"units":[{"unit":"core","event_numbers_slot_0_to_7":[33,34,37,75,79,44,45,26]}]}' >words/event_slots.json
same words words/trace.txt
read_with words | grep -q 'name = "INSTR_VECTOR"' || fail "no slot is named"
