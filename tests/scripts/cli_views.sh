#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cli_views.sh FLEXTRACE CHECKERS: filters, views and profiles from the command line, each output held against the
# checkers; the command line goes before the profile.
set -u
FLEXTRACE=$1
CHECKERS=$2
SOURCE=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
n_failed=0

fail() {
	echo "FAIL: $*" >&2
	n_failed=$((n_failed + 1))
}

# convert NAME OPTION...: converts in.json into out/ and has it checked.
convert() {
	name=$1
	shift
	rm -rf out
	"$FLEXTRACE" convert --quiet -o out in.json "$@" 2>stderr || { cat stderr >&2; fail "$name"; return; }
	if [ -f out/trace.json ]; then
		"$CHECKERS/check_trace" out/trace.json || fail "$name: trace.json is bad"
	fi
	"$CHECKERS/check_csv" out || fail "$name: a CSV file is bad"
	"$CHECKERS/check_run" out >books || { cat books >&2; fail "$name: run.json is bad"; }
}

# rows FILE: lines behind the header.
rows() {
	if [ -e "out/tables/$1" ]; then echo $(($(wc -l <"out/tables/$1") - 1)); else echo 0; fi
}

expect() {
	[ "$2" = "$3" ] || fail "$1: $2 instead of $3"
}

# Two ranks with two kernels each, whose second ones cross; host rows around them.
kernel() {
	printf '{"name":"%s Cmpt Exec","ph":"X","pid":%d,"tid":7,"ts":%d,"dur":%d,"attr":{"TS1":%d,"TS2":%d,"TS3":%d,"TS4":%d,"TS5":%d}},\n' \
		"$1" "$2" "$3" "$4" $(($3 * 1000)) $(($3 * 1000)) $(($3 * 1000)) $((($3 + $4) * 1000)) $((($3 + $4) * 1000))
}
{
	echo '['
	for rank in 0 1; do
		kernel conv_1 $rank 1000 100
		kernel add_2 $rank 1050 100
		printf '{"name":"AIU Roundtrip","ph":"X","pid":%d,"tid":1,"ts":990,"dur":200},\n' $rank
		printf '{"name":"step","ph":"X","pid":%d,"tid":1,"ts":995,"dur":150},\n' $rank
	done
	echo '{"name":"load","ph":"C","pid":0,"ts":1001,"args":{"value":3}}]'
} >in.json

convert "all"
expect "all kernels" "$(rows events.csv)" 4
expect "all host rows" "$(rows host.csv)" 4
cp -r out all

convert "a rank" --ranks=1 --keep=name:conv
expect "a rank: kernels" "$(rows events.csv)" 1
grep -q '"filtered_rows":	*8' out/run.json || fail "a rank: filtered rows are not told"

convert "globals" --drop-globals
expect "globals: host rows" "$(rows host.csv)" 2

convert "nothing left" --count=1 --skip=1000
expect "nothing left: kernels" "$(rows events.csv)" 0

# A launch, its kernel, and the wait for it: arrows there and back, where they are asked for.
mv in.json aiu.json
printf '[{"name":"cudaLaunchKernel","ph":"X","cat":"cuda_runtime","pid":9,"tid":9,"ts":10,"dur":5,"args":{"correlation":1}},
{"name":"k","ph":"X","cat":"kernel","pid":0,"tid":7,"ts":16,"dur":50,"args":{"device":0,"stream":7,"correlation":1}},
{"name":"cudaDeviceSynchronize","ph":"X","cat":"cuda_runtime","pid":9,"tid":9,"ts":20,"dur":60,"args":{"correlation":2}}]' >in.json
convert "no critical path"
grep -q critical_path out/trace.json && fail "critical path: arrows that nobody asked for"
convert "critical path" --with=critical_path
for end in s f; do
	expect "critical path: ends $end" "$(grep -c "\"ph\":\"$end\",[^}]*\"cat\":\"critical_path\"" out/trace.json)" 2
done
mv aiu.json in.json

for mode in lanes async drop; do
	convert "overlap $mode" --overlap=$mode
	cmp -s all/tables/events.csv out/tables/events.csv || fail "overlap $mode: the tables changed"
done
convert "types" --types=C --time-unit=ns
cmp -s all/tables/events.csv out/tables/events.csv || fail "types: the tables changed"
rm -rf out
"$FLEXTRACE" convert --quiet -o out in.json --overlap=warn || fail "overlap warn"
grep -q overlapping_rows out/run.json || fail "overlap warn: no warning"

# Profiles.
echo '{"gzip": true, "drop": "name:conv", "derivations": {"loops": false, "kernels": false}}' >profile.json
convert "profile" --profile=profile.json
[ -f out/trace.json.gz ] || fail "profile: not gzipped"
[ ! -f out/tables/loops.csv ] || fail "profile: a table that is off"
expect "profile: kernels" "$(rows events.csv)" 2
convert "profile and options" --profile=profile.json --gzip=no --drop=name:step --with=kernels --without=stamps
[ -f out/trace.json ] || fail "profile and options: gzipped"
[ -f out/tables/kernels.csv ] || fail "profile and options: no kernels.csv"
[ ! -f out/tables/stamps.csv ] || fail "profile and options: a table that is off"
[ ! -f out/tables/loops.csv ] || fail "profile and options: another table that is off"
expect "profile and options: kernels" "$(rows events.csv)" 4
expect "profile and options: host rows" "$(rows host.csv)" 2
grep -q '"without":	"stamps,loops"' out/run.json || fail "profile and options: run.json does not tell what is off"
convert "nothing off" --profile=profile.json --gzip=no --drop=name:nobody --with=kernels,loops
diff -rq -x run.json -x report.html all out >/dev/null || fail "nothing off: the files differ"

# Files of single ranks: a loop of ten turns on each, and one message from rank 0 to rank 1.
message() {
	printf '{"name":"%s","ph":"X","pid":%d,"tid":9,"ts":%d,"dur":%d,"attr":{"TS1":%d,"TS2":%d,"TS3":%d,"TS4":%d,"TS5":%d,"Bytes":"4096","CollGroup":"AllReduce_1","Peer":"%d","Type":"SingleCast"}},\n' \
		"$1" "$2" $3 $(($4 - $3)) $(($3 * 1000)) $(($3 * 1000)) $(($3 * 1000)) $(($3 * 1000)) $(($4 * 1000)) $((1 - $2))
}
{
	echo '['
	for rank in 0 1; do
		for turn in 1 2 3 4 5 6 7 8 9 10; do
			kernel conv_1 $rank $((turn * 1000)) 100
			kernel add_2 $rank $((turn * 1000 + 200)) 100
		done
		printf '{"name":"whole","ph":"X","pid":%d,"tid":1,"ts":990,"dur":9900},\n' $rank
	done
	message 'SenRdmaSend_1 [sync=AllReduce_1_s0_r1_0] DmaO' 0 4500 4600
	message 'SenRdmaReceive_1 [sync=AllReduce_1_s0_r1_0] DmaI' 1 4500 4610
	echo '{"name":"load","ph":"C","pid":0,"ts":1001,"args":{"value":3}}]'
} >in.json
convert "per rank" --per-rank
if command -v python3 >/dev/null; then
	python3 "$SOURCE/check_ranks.py" out >ranks || { cat ranks >&2; fail "per rank: a file is bad"; }
	for rank in 0 1; do
		grep -qx "trace.rank$rank: rank $rank of 2, 10 steps, 20 kernels, 1 collectives of 4096 bytes" ranks ||
			{ cat ranks >&2; fail "per rank: rank $rank"; }
	done
	# What the checker is there to find.
	mkdir broken
	gzip -dc out/trace.rank0.pt.trace.json.gz | sed 's/"rank": 0/"rank":0/; s/\("cat":"kernel".*\)"device":0,/\1"device":1,/' |
		gzip >broken/trace.rank0.pt.trace.json.gz
	python3 "$SOURCE/check_ranks.py" broken >ranks && fail "per rank: the checker does not see a broken file"
	for text in 'differ' 'not its device'; do
		grep -q "$text" ranks || fail "per rank: the checker does not say: $text"
	done
else
	echo "python3 is not installed: files of single ranks are not checked"
fi
cp -r out ranks.d
convert "names of ranks" --per-rank=kineto
for rank in 0 1; do
	cmp out/trace.rank$rank.pt.trace.json.gz ranks.d/trace.rank$rank.pt.trace.json.gz || fail "names of ranks: they are not the program's"
done
# For Holistic Trace Analysis, which knows launches and work by the names of CUDA, and some of AMD's.
cat >hip.json <<'END'
{"deviceProperties":[{"id":0}],"distributedInfo":{"rank":0},"traceEvents":[
{"ph":"X","cat":"cuda_runtime","name":"hipMemcpyHtoDAsync","pid":9,"tid":9,"ts":20,"dur":5,"args":{"correlation":4}},
{"ph":"X","cat":"cuda_runtime","name":"hipModuleLaunchKernel","pid":9,"tid":9,"ts":10,"dur":5,"args":{"correlation":3}},
{"ph":"X","cat":"kernel","name":"Cijk_dma","pid":0,"tid":1,"ts":16,"dur":9,"args":{"device":0,"stream":1,"correlation":3}},
{"ph":"X","cat":"gpu_memcpy","name":"CopyHostToDevice","pid":0,"tid":1,"ts":30,"dur":2,"args":{"device":0,"stream":1,"correlation":4}},
{"ph":"X","cat":"kernel","name":"rcclGenericKernel","pid":0,"tid":2,"ts":20,"dur":9,"args":{"device":0,"correlation":5,"stream":2}}]}
END
for input in in.json hip.json; do
	rm -rf out
	"$FLEXTRACE" convert --quiet -o out "$input" --compat=hta || fail "for HTA, $input"
	[ -f out/trace.rank0.pt.trace.json.gz ] || fail "for HTA, $input: no file"
	! command -v python3 >/dev/null || python3 "$SOURCE/check_hta.py" out || fail "for HTA, $input: a file is bad"
done
for name in cudaLaunchKernel cudaMemcpyAsync CIJK_DMA 'Memcpy HtoD (CopyHostToDevice)' ncclDevKernel_rcclGenericKernel; do
	gzip -dc out/trace.rank0.pt.trace.json.gz | grep -qF "\"name\":\"$name\"" || fail "for HTA: no $name"
done
# What it takes for the launch of work without one.
gzip -dc out/trace.rank0.pt.trace.json.gz | grep -A1 '"traceEvents"' | tail -n 1 | grep -qF '"hipMemcpyHtoDAsync"' ||
	fail "for HTA: the row that the file began with is not the first"
gzip -dc out/trace.rank0.pt.trace.json.gz | grep -c '"ph":"X"' >rows
expect "for HTA: rows" "$(cat rows)" 5
# Work that stands first stays first: HTA does not find its launch.
{ sed -n 1p hip.json; grep Cijk hip.json; sed 1d hip.json | grep -v Cijk; } >work.json
rm -rf out
"$FLEXTRACE" convert --quiet -o out work.json --per-rank || fail "work first"
gzip -dc out/trace.rank0.pt.trace.json.gz | grep -A1 '"traceEvents"' | tail -n 1 | grep -qF '"Cijk_dma"' ||
	fail "work first: the row that the file began with is not the first"
expect "work first: rows" "$(gzip -dc out/trace.rank0.pt.trace.json.gz | grep -c '"ph":"X"')" 5
# With a launch that it knows by its own name the file has all its names.
sed 's/hipModuleLaunchKernel/hipExtModuleLaunchKernel/' hip.json >known.json
rm -rf out ranks.d
"$FLEXTRACE" convert --quiet -o ranks.d known.json --per-rank || fail "for HTA, known names"
"$FLEXTRACE" convert --quiet -o out known.json --compat=hta || fail "for HTA, known names"
cmp out/trace.rank0.pt.trace.json.gz ranks.d/trace.rank0.pt.trace.json.gz || fail "for HTA: known names are others"
convert "one of the ranks" --per-rank --ranks=1
[ ! -f out/trace.rank0.pt.trace.json.gz ] || fail "one of the ranks: the other has a file"
[ -f out/trace.rank1.pt.trace.json.gz ] || fail "one of the ranks: no file"
# Ranks in Perfetto's own format: as in trace.pftrace, not as readers of torch's files need them.
convert "ranks of Perfetto" --per-rank --formats=pftrace
expect "ranks of Perfetto: files" "$(cd out && echo trace*)" "trace.pftrace trace.rank0.pftrace trace.rank1.pftrace"
for rank in 0 1; do
	grep -qa "Rank $rank host" out/trace.rank$rank.pftrace || fail "ranks of Perfetto: rank $rank is not in its file"
	grep -qa "Rank $((1 - rank)) host" out/trace.rank$rank.pftrace && fail "ranks of Perfetto: two ranks in a file"
	grep -qa "gloo:\|ProfilerStep\|External id" out/trace.rank$rank.pftrace && fail "ranks of Perfetto: words for torch's readers"
done
cp -r out pftraces
convert "ranks of both" --per-rank --formats=chrome,pftrace
expect "ranks of both: files" "$(cd out && echo trace.r*)" \
	"trace.rank0.pftrace trace.rank0.pt.trace.json.gz trace.rank1.pftrace trace.rank1.pt.trace.json.gz"
cmp out/trace.rank0.pftrace pftraces/trace.rank0.pftrace || fail "ranks of both: they differ"
convert "ranks of Perfetto, gzip" --per-rank --formats=pftrace --gzip
gzip -dc out/trace.rank1.pftrace.gz | cmp - pftraces/trace.rank1.pftrace || fail "ranks of Perfetto, gzip: they differ"

# refuse WHAT TEXT OPTION...: wrong usage, before anything is written.
refuse() {
	what=$1
	text=$2
	shift 2
	rm -rf out
	"$FLEXTRACE" convert --quiet -o out ${INPUT:-in.json} "$@" 2>stderr
	expect "$what: exit code" $? 1
	grep -q -e "$text" stderr || { cat stderr >&2; fail "$what: not said"; }
	[ ! -e out ] || fail "$what: something was written"
}
refuse "mode" "lanes, async, drop or warn" --overlap=tid
refuse "type" "phases of the Trace Event format" --types=Q
refuse "unit" "ms or ns" --time-unit=us
refuse "names of ranks" "kineto, yes or no" --per-rank=cuda
refuse "reader" "takes hta" --compat=chrome
refuse "regex" "Not a regular expression" --keep='name:('
refuse "attribute" "attributes=rank, host" --drop=nam:x
refuse "derivation" "Unknown derivation: name=everything" --without=everything
refuse "profile" "No such file" --profile=missing.json
refuse "switch" "takes yes or no" --gzip=maybe
echo '{"drop": "x"}' >profile.json
refuse "profile's option" "takes ATTRIBUTE:REGEX" --profile=profile.json

# What each row is from, of a recording and of files of four tools at a time: by number and by name, whoever reads how fast.
mkdir four
"$CHECKERS/make_trace" good four/ctf >/dev/null
echo '[{"name":"of Flex","ph":"X","pid":0,"tid":1,"ts":5,"dur":1}]' >four/flex.json
cat >four/torch.json <<END
{"schemaVersion":1,"traceEvents":[{"ph":"M","name":"process_name","pid":7,"args":{"name":"p"}},
{"ph":"X","cat":"cpu_op","name":"of torch","pid":7,"tid":7,"ts":10,"dur":5}]}
END
cat >four/profile_log_device.csv <<END
ARCH: blackhole, CHIP_FREQ[MHz]: 1350
PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, trace id, trace id counter, zone name, type, source line, source file, meta data
0,1,2,BRISC,1,1000,0,1,,,BRISC-FW,ZONE_START,1,fw.cc,
0,1,2,BRISC,1,2000,0,1,,,BRISC-FW,ZONE_END,1,fw.cc,
END
echo '[{"name":"LOCK_STALL","ph":"B","ts":1,"pid":0,"tid":7},{"name":"LOCK_STALL","ph":"E","ts":20,"pid":0,"tid":7}]' >four/aie.json
four() {
	name=$1
	shift
	rm -rf out
	"$FLEXTRACE" convert --quiet -o out four/torch.json four/ctf four/aie.json four/profile_log_device.csv four/flex.json \
		--formats=chrome,csv,text "$@" 2>/dev/null || fail "$name"
	"$CHECKERS/check_run" out >books || { cat books >&2; fail "$name: run.json is bad"; }
}
inputs() {
	sed -n 's,.*\,\([0-9]*\)\(/[0-9.]*\)\?:[0-9]*$,\1,p' "out/tables/$1" | sort -u | tr '\n' ' '
}
four "of all" --workers=1
mv out one
four "of all, faster" --workers=2
diff -rq one out || fail "what rows are from depends on the number of workers"
tr -d '\n' <out/run.json | grep -q '"inputs":[^"]*"ctf [^"]*", "aie aie.json", "flex flex.json", "torch torch.json", "tt-csv profile_log_device.csv"\]' ||
	fail "inputs are not in order: $(grep inputs out/run.json)"
expect "host rows" "$(inputs host.csv)" "0 2 3 "
expect "device rows" "$(grep -c ',state,LOCK_STALL,.*,1:0$' out/tables/events.csv) $(grep -c ',FW,.*,4:3$' out/tables/events.csv)" "1 1"
four "by number" --keep 'source:^0/'
expect "by number" "$(inputs host.csv)" "0 "
expect "by number, device" "$(rows events.csv)" 0
four "by name" --drop 'source:^(flex|ctf) '
expect "by name" "$(inputs host.csv)" "3 "
grep -q no_such_source out/run.json && fail "a source that there is was missed"
four "by a name that there is not" --keep 'source:flex[.]jsno'
grep -A1 '"no_such_source"' out/run.json | grep -q '"count":[[:space:]]*1' || fail "nobody told that there is no such source"

# What a tool made of a recording is none: ours, and what the analyzer writes, whose word stands at the end.
"$FLEXTRACE" convert --quiet -o made in.json --per-rank --gzip=no || fail "made"
mkdir mixed
cp in.json mixed/a.json
{
	echo '{"deviceProperties":[{}],"traceName":"x.json","traceEvents":'
	cat in.json
	echo ',"displayTimeUnit":"ns","otherData":{"Application":"Acelyzer v1.2","CmdLine":"x"}}'
} >mixed/b.json
for INPUT in made/trace.json made/trace.rank0.pt.trace.json.gz; do
	refuse "$INPUT" "no recording, flextrace made it"
done
for INPUT in mixed/b.json mixed; do
	refuse "$INPUT" "no recording, the AIU Trace Analyzer made it of one; .*mixed/b.json"
done
INPUT=

[ $n_failed -eq 0 ] || { echo "$n_failed failed" >&2; exit 1; }
echo "all good"
