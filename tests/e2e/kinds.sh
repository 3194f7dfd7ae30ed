#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kinds.sh BUILD: each of the 33 runtime and 7 device kinds, recorded once: right name, category and row.
. "$(dirname "$0")/lib.sh"
cd "$LTTNG_TEST_DIR"
"$FLEXTRACE" record --output=out --with=ops -- "$E2E/all_kinds" >record.log 2>&1 || { cat record.log; fail "record failed"; }
check_output out

# The profiler guide's names, read from the one list in events.h.
events_h="$SOURCE/tracer/include/flextrace/events.h"
sed -n '/define FLEXTRACE_RUNTIME_KINDS/,/define FLEXTRACE_CALL_KINDS/s/.*X(\([A-Z_0-9]*\), *[0-9]*, *"\([^"]*\)".*/\2/p' "$events_h" >runtime.txt
sed -n '/define FLEXTRACE_DEVICE_KINDS/,/clang-format on/s/.*X(\([A-Z_0-9]*\), *[0-9]*, *"\([^"]*\)").*/\2/p' "$events_h" >device.txt
[ "$(wc -l <runtime.txt)" -eq 33 ] || fail "not 33 runtime kinds"
[ "$(wc -l <device.txt)" -eq 7 ] || fail "not 7 device kinds"

while read -r name; do
	n=$(awk -F, -v name="$name" '$6 == name && $7 == name' out/tables/host.csv | wc -l)
	[ "$name" = aiuLaunchControlBlocks ] || [ "$n" -eq 1 ] || fail "host.csv has $n rows of kind and name $name"
	grep -q "\"name\":\"$name\",\"cat\":\"privateuse1_runtime\"\|\"cat\":\"privateuse1_runtime\",\"name\":\"$name\"" out/trace.json ||
		fail "trace.json has no privateuse1_runtime slice $name"
done <runtime.txt
while read -r name; do
	case $name in
	Kernel) category=kernel ;;
	Memcpy*) category=gpu_memcpy ;;
	Memset*) category=gpu_memset ;;
	*) category=device_release ;;
	esac
	grep -q "\"name\":\"$name\",\"cat\":\"$category\"\|\"cat\":\"$category\",\"name\":\"$name\"" out/trace.json ||
		fail "trace.json has no $category slice $name"
	grep -q ",$name," out/tables/events.csv || fail "events.csv has no row $name"
done <device.txt
kinds=$(awk -F, 'NR > 1 { print $7 }' out/tables/events.csv | sort -u | tr '\n' ' ')
for kind in DmaI Prep Exec DmaO 'Memcpy HtoD' 'Memcpy DtoH' 'Memcpy DtoD' 'Memcpy PtoP' Memset Release; do
	case "$kinds" in *"$kind"*) ;; *) fail "events.csv has no row of kind $kind, only: $kinds" ;; esac
done

# The operation, as tt-metal's scripts find it: by the names of columns.
cell() {
	awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
		NR == 2 { sub(/"[^"]*"/, "quoted"); print $at }' out/tables/ops.csv
}
[ "$(wc -l <out/tables/ops.csv)" -eq 2 ] || fail "ops.csv has not one line"
for pair in "OP CODE=quoted" "OP TYPE=MatMul" "MATH FIDELITY=HiFi4" "CORE COUNT=2" "DEVICE ID=0" \
	"INPUT_0_X_PAD[LOGICAL]=3[3]" "OUTPUT_0_X=4" "launch Count=1" "opcode=dot" "CALL DEPTH=1"; do
	[ "$(cell "${pair%%=*}")" = "${pair#*=}" ] || fail "ops.csv: $pair, but it is $(cell "${pair%%=*}")"
done
[ "$(cell "DEVICE KERNEL DURATION [ns]")" -gt 1000 ] || fail "ops.csv: the kernel took no time"

# A recording of 0.1 has no dialect: the same files.
cp -r out/trace old
metadata=$(find old -name metadata)
sed -i 's/_dialect;/_dialekt;/' $metadata
[ "$(grep -ac '_dialekt;' $metadata)" -gt 0 ] || fail "no field dialect"
"$FLEXTRACE" convert -o out_old --with=ops old 2>old.err || fail "convert of a recording of 0.1: $(cat old.err)"
for file in tables/host.csv tables/events.csv tables/kernels.csv tables/runtime.csv trace.json; do
	cmp "out/$file" "out_old/$file" || fail "a recording of 0.1 has another $file"
done

# Another dialect is asked for.
"$FLEXTRACE" convert -o out_cuda --dialect=kineto out/trace 2>cuda.err || fail "--dialect: $(cat cuda.err)"
grep -q ',cudaLaunchKernel,' out_cuda/tables/host.csv || fail "--dialect=kineto: host.csv has no cudaLaunchKernel"
grep -q '"cat":"cuda_runtime"' out_cuda/trace.json || fail "--dialect=kineto: trace.json has no cuda_runtime"
if "$FLEXTRACE" convert -o out_odd --dialect=coda out/trace 2>odd.err; then fail "--dialect=coda"; fi
grep -q 'neutral, aiu, cuda, kineto or tt-metal' odd.err || fail "--dialect=coda: $(cat odd.err)"

# A program that chooses none never sees a vendor's words, whatever kinds it records and however they are shown.
"$FLEXTRACE" record --output=plain --formats=chrome,csv,json,pftrace,report,text --per-rank=kineto --with=ops -- \
	"$E2E/all_kinds" neutral >record.log 2>&1 || { cat record.log; fail "record failed"; }
check_output plain
"$FLEXTRACE" report plain >plain/report.txt
rm -rf plain/trace
found=$(grep -rlaE 'aiu[A-Z]|MAIU|privateuse1' plain record.log | head -n 3)
[ -z "$found" ] || fail "a vendor's words in: $found: $(grep -aohE '.{30}(aiu[A-Z]|MAIU|privateuse1).{30}' $found | head -n 3)"
for kind in init compile alloc copy_in copy_out prepare launch execute wait collective call; do
	grep -q ",$kind,mine," plain/tables/host.csv || fail "host.csv has no row of kind $kind"
done
for kind in compute prepare dma_in dma_out copy_in copy_out copy copy_peer set release; do
	grep -q ",$kind," plain/tables/events.csv || fail "events.csv has no row of kind $kind"
done
