#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cli_hostile.sh FLEXTRACE CHECKERS: input that means harm. Each limit has its message; no text of an input chooses
# where output goes, drives a terminal or a spreadsheet, or ends a script of a page.
set -u
FLEXTRACE=$1
CHECKERS=$2
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
n_failed=0

fail() {
	echo "FAIL: $1" >&2
	sed 's/^/	/' stdout stderr 2>/dev/null | cut -c1-300 >&2
	n_failed=$((n_failed + 1))
}

# expect NAME EXIT MESSAGE ARGUMENT...
expect() {
	name=$1 code=$2 message=$3
	shift 3
	"$FLEXTRACE" "$@" >stdout 2>stderr
	got=$?
	[ $got -eq "$code" ] || fail "$name: exit code $got instead of $code"
	[ -z "$message" ] || grep -qF -- "$message" stderr || fail "$name: no message: $message"
}

# event TEXT: a file of two events, the first one with a member more.
event() {
	printf '[{"ph":"X","name":"bad","ts":1,"dur":2,"pid":1,"tid":1,%s},\n' "$1"
	printf '{"ph":"X","name":"good","ts":5,"dur":2,"pid":1,"tid":1}]\n'
}

repeat() { # repeat N TEXT
	head -c "$1" /dev/zero | sed "s/\\x0/$2/g"
}

# limits: what is beyond costs itself
{ printf '"args":{"a":'; repeat 65 '['; repeat 65 ']'; printf '}'; } >member
event "$(cat member)" >deep.json
expect "depth" 0 "nested too deep" convert -q deep.json -o out
grep -q ',good,' out/tables/host.csv || fail "depth: the next event is lost"
{ printf '[{"ph":"X","ts":1,"dur":2,"name":"'; repeat 17000000 a; printf '"},{"ph":"X","name":"good","ts":5,"dur":2}]'; } >long.json
expect "length" 0 "Events were rejected" convert -q long.json -o out
grep -q ',good,' out/tables/host.csv || fail "length: the next event is lost"
{ printf '{"a":'; repeat 5000 '['; } >deep-clocks.json
expect "depth of options" 1 "deep-clocks.json" convert deep.json -o out --clocks=deep-clocks.json
repeat 1100000 ' ' >long-clocks.json
expect "length of options" 1 "long-clocks.json" convert deep.json -o out --clocks=long-clocks.json
{ printf '"args":{"a":0'; seq -f ',"a%.0f":0' 70000 | tr -d '\n'; printf '}'; } >member
event "$(cat member)" >wide.json
expect "attributes" 0 "Events were rejected" convert -q wide.json -o out
grep -q ',good,' out/tables/host.csv || fail "attributes: the next event is lost"
{
	echo 'ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000'
	echo 'PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]'
	seq -f '%.0f, 1, 1, BRISC, 1, 1000' 0 299
	printf '0, 1, 1, BRISC, 2, 1100'; repeat 200 ,; echo
	seq -f '0, 1, 1, RISC%.0f, 1, 1000' 1 99
} >log.csv
expect "devices, processors, fields" 0 "" convert log.csv -o out --as tt-csv --formats=csv
awk -F, '$4 == "malformed" { n += $8 } END { exit !(n >= 44 + 39) }' out/tables/losses.csv ||
	fail "devices, processors: $(cat out/tables/losses.csv)"
for number in 1e999 -1e999 NaN 99999999999999999999; do
	printf '[{"ph":"X","name":"bad","ts":%s,"dur":2},{"ph":"X","name":"good","ts":5,"dur":2}]' $number >number.json
	expect "number $number" 0 "Events were rejected" convert -q number.json -o out
	grep -q ',good,' out/tables/host.csv || fail "number $number: the next event is lost"
	! grep -q ',bad,' out/tables/host.csv || fail "number $number: it is shown"
done

# texts: CSV, JSON, terminal
printf '[{"ph":"X","name":"=HYPERLINK(1)","ts":1,"dur":2,"pid":1,"tid":1},{"ph":"X","name":"@a,\\"b\\"","ts":5,"dur":2,"pid":1,"tid":1},
{"ph":"X","name":"</script><!--","ts":9,"dur":2,"pid":1,"tid":1},{"ph":"X","name":"\\u001b]0;x\\u0007\\u009b31m","ts":13,"dur":2,"pid":1,"tid":1},
{"ph":"X","name":"bad \377 byte","ts":17,"dur":2,"pid":1,"tid":1}]' >texts.json
expect "texts" 0 "" convert texts.json -o out
grep -qF ",'=HYPERLINK(1)," out/tables/host.csv || fail "texts: a formula stands in a cell"
grep -qF ",\"'@a,\"\"b\"\"\"," out/tables/host.csv || fail "texts: a quoted formula stands in a cell"
! grep -q '<' out/trace.json || fail "texts: trace.json can end a script"
! grep -q "$(printf '\033')" out/trace.json stdout stderr || fail "texts: an escape sequence comes through"
"$CHECKERS/check_csv" out >stdout 2>stderr || fail "texts: check_csv"
"$CHECKERS/check_trace" out/trace.json >stdout 2>stderr || fail "texts: check_trace"
mkdir -p compiled/inductor-spyre/k/perf
printf '[{"ideal_cycles":5,"op_category":"a\\u001b[31mb\\u009bc"}]' >compiled/inductor-spyre/k/perf/ideal_cycles.json
printf '{"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":1,"tid":1,"ts":1,"dur":3,
"args":{"device":0,"stream":7,"correlation":1}}]}' >kernel.json
expect "a table to read" 0 "" convert -q kernel.json -o read --compiler-info=compiled
grep -qF 'a?[31mb??c' read/tables/categories.txt || fail "a table to read has escape sequences"
expect "report" 0 "" report out runtime
! grep -q "$(printf '\033')" stdout || fail "report: an escape sequence comes through"
grep -qF '=HYPERLINK(1)' stdout || fail "report: a name is not as it was"
! grep -qF "'=HYPERLINK(1)" stdout || fail "report: a name has its guard"
bad=$(printf 'a\033[31mb')
expect "a path" 2 "path=a?[31mb" convert "$bad" -o out

expect "doctor" 2 "" doctor "$bad"
grep -qF 'path=a?[31mb' stdout || fail "doctor: an escape sequence comes through"

# pipes where files are looked for: nobody waits for what may never come
mkdir pipes pipes/json pipes/ctf pipes/ctf/index pipes/metadata pipes/tt
mkfifo pipes/json/a.json pipes/json/b.txt pipes/ctf/index/stream.idx pipes/metadata/metadata \
	pipes/tt/profile_log_device.csv pipes/elf
expect "a pipe alone" 2 "no file of events" convert pipes/json -o out
cp texts.json pipes/json
expect "a pipe among files" 0 "" convert -q pipes/json -o out
"$CHECKERS/make_trace" good pipes/ctf
mv pipes/ctf/channel0_0 pipes/ctf/stream
expect "a pipe for an index" 0 "" convert -q pipes/ctf -o out
[ "$(wc -l <out/tables/host.csv)" -eq 1001 ] || fail "a pipe for an index costs records"
expect "a pipe for metadata" 2 "No data" convert pipes/metadata -o out
expect "a pipe for a log" 2 "No data" convert pipes/tt -o out
expect "a pipe for a program" 2 "" doctor pipes/elf

# output goes where it is told to, and nowhere else
mkdir inner
printf '[{"ph":"M","name":"process_name","pid":0,"args":{"name":"core_trace for tile../../../evil,/1"}},
{"ph":"M","name":"thread_name","pid":0,"tid":0,"args":{"name":"../../INSTR_EVENT_0"}},
{"ph":"B","name":"INSTR_EVENT_0","pid":0,"tid":0,"ts":1},{"ph":"E","name":"INSTR_EVENT_0","pid":0,"tid":0,"ts":2},
{"ph":"B","name":"INSTR_EVENT_1","pid":0,"tid":1,"ts":3},{"ph":"E","name":"INSTR_EVENT_1","pid":0,"tid":1,"ts":4}]' >tile.json
expect "tiles" 0 "" convert -q --as aie-json tile.json -o inner/deep/out
[ -e "inner/deep/out/tables/tile.._.._.._evil,_1.json" ] || fail "tiles: no file of the tile"
[ -z "$(find "$dir" -name '*evil*' | grep -v '/inner/deep/out/')" ] || fail "tiles: a name is a path"
[ "$(find inner -type f | LC_ALL=C grep -vc '^inner/deep/out/\(tables/\)\{0,1\}[A-Za-z0-9_.,()-]*$')" -eq 0 ] || fail "tiles: odd names"
printf '{"schemaVersion":1,"traceName":"../../evil.json","distributedInfo":{"rank":"../../evil"},"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"../../evil","pid":1,"tid":1,"ts":1,"dur":1}]}' >evil-torch.in
expect "ranks" 0 "" convert -q --as torch --per-rank evil-torch.in -o inner/ranks
[ -z "$(find "$dir" -name '*evil*' | grep -v -e evil-torch.in -e '/inner/deep/out/')" ] || fail "ranks: a name is a path"
mkdir -p linked/tables
for file in tables/host.csv trace.json run.json; do
	echo kept >"victim-${file#*/}"
	ln -s "$dir/victim-${file#*/}" linked/$file
done
expect "links" 0 "" convert -q texts.json -o linked
for file in tables/host.csv trace.json run.json; do
	[ "$(cat "victim-${file#*/}")" = kept ] || fail "links: $file was written through a link"
	[ ! -L linked/$file ] || fail "links: $file is still a link"
done
ln -s "$dir/victim-host.csv" linked/tables/host.csv.tmp
mkfifo linked/tables/clocks.csv.tmp linked/tables/alignment.csv.tmp
expect "a link in the way" 0 "" convert -q texts.json -o linked
[ "$(cat victim-host.csv)" = kept ] || fail "a link in the way was followed"
[ -f linked/tables/alignment.csv ] && [ ! -L linked/tables/host.csv ] || fail "what was in the way was not replaced"
mkdir linked/tables/host.csv.tmp
expect "a folder in the way" 4 "linked/tables/host.csv" convert -q texts.json -o linked
[ "$(stat -c %a out inner/deep out/tables out/tables/host.csv out/trace.json | tr '\n' ' ')" = "700 700 700 600 600 " ] ||
	fail "others may read: $(stat -c '%a %n' out inner/deep out/* out/tables/*)"

[ $n_failed -eq 0 ] || { echo "$n_failed failed" >&2; exit 1; }
echo "all harmless"
