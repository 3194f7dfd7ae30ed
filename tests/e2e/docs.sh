#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# docs.sh BUILD [DOCUMENT...]: installs below a prefix of its own and types what the documents say, word by word: all
# blocks that tests/scripts/docs.py finds in them, each document in a folder with what its reader has.
. "$(dirname "$0")/lib.sh"
shift
cd "$LTTNG_TEST_DIR"
[ -w "$BUILD" ] || { echo "skipped: cmake --install writes its list into the build tree, which is another's"; exit 77; }
python=$(command -v /usr/bin/python3 || command -v python3) || { echo "skipped: there is no python3"; exit 77; }
lttng-sessiond --daemonize
cmake --install "$BUILD" --prefix "$PWD/usr" >install.log || { cat install.log; fail "cmake --install"; }
pc=$(find "$PWD/usr" -name flextrace.pc)
package=$(find "$PWD/usr" -path '*/flextrace/__init__.py')
export PATH="$PWD/bin:$PWD/usr/bin:$PATH" PKG_CONFIG_PATH="${pc%/*}"
export PYTHONPATH="${package%/flextrace/*}" PYTHONDONTWRITEBYTECODE=1
# What is built here would look for the provider where the build tree is to be installed.
FLEXTRACE_PROVIDER=$(find "$PWD/usr" -name libflextrace-lttng.so)
unset BABELTRACE_PLUGIN_PATH

# A build with sanitizers needs their runtime, in what is linked with it and in babeltrace2, and no part of it in Python.
asan=$(find "$PWD/usr" -name 'babeltrace-plugin-flextrace.so' -exec ldd {} + | awk '/libasan/ { print $3; exit }')
provider=$FLEXTRACE_PROVIDER
[ -z "$asan" ] || provider=$BUILD/tests/libtracer_plain_lttng.so
wrap() { # wrap NAME COMMAND [LINE]: NAME is this command, behind this line
	printf '#!/bin/sh\n%s\nexec %s\n' "${3-}" "$2" >"bin/$1"
	chmod +x "bin/$1"
}
mkdir bin
wrap cc "$(command -v "${CC:-cc}") \"\$@\" ${asan:+-fsanitize=address,undefined}"
wrap c++ "$(command -v "${CXX:-c++}") \"\$@\" ${asan:+-fsanitize=address,undefined}"
wrap babeltrace2 "env LD_PRELOAD=$asan $(command -v babeltrace2) \"\$@\""
wrap python3 "env FLEXTRACE_PROVIDER=$provider $python \"\$@\""
# A snapshot is taken when the server has done something: it says so into a pipe.
wrap flextrace "$PWD/usr/bin/flextrace \"\$@\"" '[ "$1" != snapshot ] || read -r served <served'
! "$python" -c 'import pytest' 2>/dev/null || wrap pytest "env FLEXTRACE_PROVIDER=$provider $python -m pytest \"\$@\""

# What readers have: programs, recordings, files of other tools. `build` is their build tree.
mkdir inputs
cd inputs
ln -s "$BUILD" build
cp "$SOURCE"/docs/examples/* .
cp first.c app.c
for program in app program train; do
	cp "$E2E/example_queue" $program
done
mkfifo served
printf '#!/bin/sh\n./app\necho >served\n' >server
chmod +x server
"$E2E/example_cores"
cp hang.bin memory.bin
cp "$E2E/example_cores" fw.elf
cat >program.py <<'PYTHON'
import difflib, json
print(json.dumps(difflib.get_close_matches("trace", ["brace", "grace", "track"])))
PYTHON
cat >train.py <<'PYTHON'
import flextrace
for n in range(20):
    flextrace.step()
    with flextrace.scope("forward"): pass
PYTHON
echo 'def test_nothing(): pass' >test_nothing.py
mkdir mypackage
cp program.py mypackage/train.py
corpus=$SOURCE/tests/fuzz/corpus
mkdir -p traces job/host-a job/host-b outputs/npu2-gemm_512_512_512-4_row_8_col/traces generated/profiler/.logs \
	profile/plugins/profile/2026_11_28_10_00_00
cp "$corpus/flex/blocks.json" job_rank_0.json
cp "$corpus/flex/object.json" job_rank_1.json
cp job_rank_?.json traces
cp job_rank_0.json job/rank_0.json
cp job_rank_1.json job/rank_1.json
cp "$corpus/torch/kineto.json" old.pt.trace.json
cp "$corpus/torch/kineto.json" new.pt.trace.json
cp "$corpus/aie/core.json" trace.json
cp "$corpus/aie/core.json" trace_mm_512_512_512.json
cp "$corpus/aie/core.json" outputs/npu2-gemm_512_512_512-4_row_8_col/traces/trace.json
printf '%s\n' 00220001 f0000000 000406ff 70dbfffe 25fefefe 3ffefefe 00000000 00000000 >trace.txt
cp "$corpus/nsys/of_2024" report.sqlite
cp "$corpus/nsys/of_2022" rank0.sqlite
cp "$corpus/nsys/of_2024" rank1.sqlite
cp "$corpus/perfetto/ours" trace.pftrace
cp "$corpus/plain_table/intervals.csv" .
cp "$corpus/tt_csv/fifteen.csv" generated/profiler/.logs/profile_log_device.csv
cp "$corpus/xplane/whole.pb" host-a.xplane.pb
cp "$corpus/xplane/whole.pb" host-b.xplane.pb
cp host-a.xplane.pb profile/plugins/profile/2026_11_28_10_00_00
flextrace record --quiet -o recording -- "$E2E/example_firmware"
cp -al recording/trace .
cp -al trace job/host-a
cp -al trace job/host-b
for copy in before before1 before2 before3 after after1 after2 after3 baseline new; do
	cp -al recording $copy
done
cd ..

cat >head.sh <<'BASH'
set -eo pipefail
at() { echo "== $1"; place=$1; }
has() { for name in ${1//,/ }; do command -v $name || python3 -c "import $name" || return; done >/dev/null 2>&1; }
trap 'code=$?; [ $code -eq 0 ] || echo "exit code $code at $place"' EXIT
BASH
docs=$SOURCE/tests/scripts/docs.py
[ $# -gt 0 ] || set -- $("$python" "$docs" "$SOURCE" --list)
bad=0
for document; do
	folder=$(echo "$document" | tr / _)
	cp -al inputs "$folder"
	cd "$folder"
	{ cat ../head.sh && "$python" "$docs" "$SOURCE" --script "$document"; } >lines.sh
	# What the document makes itself is not there before.
	grep -q -- '-o out' lines.sh || cp -al recording out
	! grep -q 'PWD/trace' lines.sh || rm -r trace
	begin=$(date +%s%N)
	bash lines.sh >log 2>&1 </dev/null || { cat log; echo "FAIL: what $document says does not work" >&2; bad=1; }
	echo "$document: $((($(date +%s%N) - begin) / 1000000)) ms"
	cd ..
done
[ $bad -eq 0 ] || exit 1
[ -d README.md ] || exit 0

cd README.md
for out in out plain; do
	check_output $out
	[ "$(grep -c ',User,iteration,' $out/tables/host.csv)" -eq 1000 ] || fail "$out: host.csv has not the 1000 scopes"
done
grep -q iteration log || fail "the report does not tell of the scopes"
