#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# loads.sh FLEXTRACE PYTHON CORPUS: what is written of the fuzzers' files, and of rows that cross, is read as people
# read it (loads.py). Device logs have the name and form that tt-metal's scripts look for, and are no table.
set -u
FLEXTRACE=$1
PYTHON=$2
here=$(cd "$(dirname "$0")" && pwd)
corpus=$(cd "$3" && pwd)
export PYTHONDONTWRITEBYTECODE=1
"$PYTHON" -c 'import pandas' 2>/dev/null || { echo "skipped: pandas is not installed"; exit 77; }
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

cat >crossing.json <<-'END'
	{"baseTimeNanoseconds": 1787000001000000000, "schemaVersion": 1, "traceEvents": [
	{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 1, "dur": 3, "args": {"correlation": 1}},
	{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 4, "args": {"correlation": 9007199254740991}},
	{"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 9, "dur": 5, "args": {"device": 0, "stream": 7, "correlation": 1}},
	{"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 7, "ts": 11, "dur": 6, "args": {"device": 0, "stream": 7, "correlation": 9007199254740991}}]}
END
# Two collectives of a rank, of which one begins in the other, and one alone.
cat >collectives.json <<-'END'
	{"baseTimeNanoseconds": 1787000001000000000, "distributedInfo": {"backend": "nccl", "rank": 2, "world_size": 4}, "traceEvents": [
	{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 7, "ts": 1, "dur": 10, "args": {"device": 0, "stream": 7, "Collective name": "allreduce", "In msg nelems": 1000, "Out msg nelems": 1000, "dtype": "Float", "Group size": 4, "Process Group Name": "a"}},
	{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllGather", "pid": 0, "tid": 9, "ts": 5, "dur": 20, "args": {"device": 0, "stream": 9, "Collective name": "allgather", "In msg nelems": 3000, "Out msg nelems": 12000, "dtype": "Float", "Group size": 4, "Process Group Name": "b"}},
	{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 7, "ts": 40, "dur": 5, "args": {"device": 0, "stream": 7, "Collective name": "allreduce", "In msg nelems": 2000, "Out msg nelems": 2000, "dtype": "Float", "Group size": 4, "Process Group Name": "a"}}]}
END
n=0
# convert INPUT OPTION...: into a directory of its own, if it can be read.
convert() {
	input=$1
	shift
	n=$((n + 1))
	"$FLEXTRACE" convert --formats=chrome,pftrace,csv,json --with=ops,device_stats,device_stats_text,rearranged,messages \
		"$@" -o "$n" "$input" >log 2>&1 || rm -rf "$n"
}
convert collectives.json
for overlap in lanes async drop warn; do
	convert crossing.json --overlap="$overlap" --per-rank
	[ -d "$n" ] || { cat log; exit 1; }
done
for format in flex torch tt_csv tt_report aie marker_file nsys xplane pairs; do
	for input in "$corpus/$format"/*; do
		convert "$input" --per-rank
	done
done
"$PYTHON" "$here/loads.py" [0-9]*
