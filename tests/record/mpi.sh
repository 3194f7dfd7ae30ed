#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mpi.sh FLEXTRACE PROGRAM MPI: mpi_program under --mpi: its communicators, collectives and messages, in one recording and
# with ranks on clocks of their own.
. "$(dirname "$0")/lib.sh"
MPI=$3
CHECK=$(cd "$(dirname "$0")" && pwd)/mpi_check.py
command -v "mpirun.$MPI" >/dev/null || { echo "skipped: no mpirun.$MPI"; exit 77; }
python3 -c 'import csv, json' 2>/dev/null || { echo "skipped: python3 lacks its standard library"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_plm_rsh_agent=false TMPDIR="$LTTNG_TEST_DIR"
# What is preloaded comes before the sanitizers' runtime. MPI itself leaks.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:detect_leaks=0"

# recorded NAME PART... : a recording of parts of the program, in the directory of that name.
recorded() {
	name=$1
	shift
	run 0 "$FLEXTRACE" record --mpi -o "$name" -- "mpirun.$MPI" -np 4 "$PROGRAM" "$@"
	cp out.log "$name.txt"
	grep -q '"closes":[[:space:]]*true' "$name/run.json" || fail "books: $(cat "$name/tables/losses.csv")"
	[ "$(awk -F, 'NR > 1 { print $1 }' "$name/tables/alignment.csv" | sort | tr '\n' ' ')" = "0 1 2 3 " ] || fail "$name: other ranks"
}

recorded all collectives messages communicators
python3 "$CHECK" all all.txt || fail "all: see above"
! grep -q crossing_scopes all/run.json || fail "collectives that do not block cross others"
grep -q '/cart' all/tables/collectives.csv || fail "no communicator of a grid"

# What is not known of these is not said.
recorded wild wildcards cancelled
python3 "$CHECK" wild wild.txt --may-lack || fail "wildcards: see above"
recorded threads threads
python3 "$CHECK" threads threads.txt --may-lack || fail "threads: see above"

# In programs without MPI nothing is loaded and nothing recorded; what was to be preloaded still is.
LD_PRELOAD=libc.so.6 run 2 "$FLEXTRACE" record --mpi="$MPI" -o none -- sh -c 'echo "$LD_PRELOAD"; cat /proc/self/maps'
says "libflextrace-mpi-$MPI.so:libc.so.6\$" out.log
says "libflextrace-mpi-$MPI.so" out.log
! grep -q 'lttng-ust' out.log || fail "the provider is in a program without MPI"

# Nobody can say which MPI that is; and there is none of that name.
run 1 "$FLEXTRACE" record --mpi -o none -- true
says 'say which it is with --mpi=openmpi or --mpi=mpich' err.log
run 1 "$FLEXTRACE" record --mpi=lam -o none -- true
says 'takes openmpi or mpich: value=lam' err.log
run 1 "$FLEXTRACE" record --mpi
says 'mpi needs a command' err.log
[ ! -e none/trace ] || rm -r none

# Each rank in a time namespace of its own, with a clock that is 1000 s further than that of the one before.
cat >rank.sh <<'END'
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
exec unshare --mount --propagation private --time --monotonic $((rank * 1000)) --fork --kill-child sh -c '
	mount -t tmpfs tmpfs /run/lttng && exec "$0" record --mpi="$1" --no-convert --subbuf-size 256K -o "$2" -- "$3" collectives \
		messages communicators wildcards' "$FLEXTRACE" "$MPI" "rank$rank" "$PROGRAM"
END
unshare --mount --time --monotonic 1 --fork true 2>/dev/null || { echo "no time namespaces: the rest is left out"; exit 0; }
export FLEXTRACE MPI PROGRAM
run 0 "mpirun.$MPI" -np 4 sh rank.sh
cp out.log apart.txt
run 0 "$FLEXTRACE" convert -o apart rank0/trace rank1/trace rank2/trace rank3/trace
python3 "$CHECK" apart apart.txt --may-lack || fail "apart: see above"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ error = $at["offset_ns"] + $at["rank"] * 1000e9; bound = $at["half_width_ns_max"]
	  print "rank " $at["rank"] ": error of the offset " error " ns, bound " bound " ns"
	  bad = bad || $at["component"] != 0 || bound == "" || error > bound || error < -bound }
	END { exit bad || NR != 5 }' apart/tables/alignment.csv || fail "clocks: $(cat apart/tables/alignment.csv)"
