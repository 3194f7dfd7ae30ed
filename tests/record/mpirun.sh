#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mpirun.sh FLEXTRACE PROGRAM [TRIES]: a launcher takes the recorders of a job away when one of its ranks aborts. Longer
# with TRIES.
. "$(dirname "$0")/lib.sh"
TRIES=${3:-1}
command -v mpirun >/dev/null || {
	echo "skipped: no mpirun"
	exit 77
}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_plm_rsh_agent=false TMPDIR="$LTTNG_TEST_DIR"

# Four ranks have recorded 500 scopes each when rank 0 aborts. mpirun sends the others SIGTERM, and SIGKILL soon after.
mkfifo here-1 here-2 here-3 go
cat >rank.sh <<'END'
rank=$OMPI_COMM_WORLD_RANK
if [ "$rank" -eq 0 ]; then
	exec "$1" record -o "$3" -- "$2" scopes=500 read=here-1 read=here-2 read=here-3 raise=6
fi
exec "$1" record -o "$3" -- "$2" scopes=500 write="here-$rank" read=go
END

i=0
while [ $i -lt "$TRIES" ]; do
	rm -rf out result
	status=0
	mpirun -np 4 sh rank.sh "$FLEXTRACE" "$PROGRAM" out >out.log 2>err.log || status=$?
	[ $status -ne 0 ] || fail "the job did not fail"
	nothing_left
	[ -f out/run.json ] || fail "SIGTERM came first, and nothing was converted"
	[ "$(rows out/tables/host.csv)" -eq 2000 ] || fail "$(rows out/tables/host.csv) rows of 2000"
	grep -q '"closes":[[:space:]]*true' out/run.json || fail "books: $(cat out/tables/losses.csv)"
	run 0 "$FLEXTRACE" convert -o result out
	cmp out/tables/host.csv result/tables/host.csv || fail "another result of convert"
	i=$((i + 1))
done
