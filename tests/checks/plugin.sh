#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# plugin.sh TOP FOLDER MAKE_TRACE: the plug-in in babeltrace2 under valgrind, as a sink, as a source, and where it
# refuses: no error, nothing lost for good. Builds it without sanitizers in FOLDER, which valgrind cannot run.
set -eu
top=$1
build=$2
make_trace=$3
for tool in valgrind babeltrace2; do
	command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

if ! { cmake -S "$top" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DFLEXTRACE_TESTS=OFF -DFLEXTRACE_BENCH=OFF &&
	cmake --build "$build" --target flextrace_bt2_plugin; } >"$dir/log" 2>&1; then
	tail -n 40 "$dir/log"
	exit 1
fi
cd "$dir"
export BABELTRACE_PLUGIN_PATH="$build/converter/bt2"
export LIBBABELTRACE2_NO_DLCLOSE=1 # else names are gone from the reports
bad=0

# under CODE ARGUMENT...: babeltrace2 ends with CODE, and valgrind has nothing to say.
under() {
	code=$1
	shift
	got=0
	valgrind --quiet --leak-check=full --errors-for-leak-kinds=definite --show-leak-kinds=definite \
		--num-callers=30 --error-exitcode=99 --log-file=valgrind.txt babeltrace2 "$@" >said.txt 2>&1 || got=$?
	if [ $got -ne "$code" ] || [ -s valgrind.txt ]; then
		echo "FAIL: babeltrace2 $*: exit code $got instead of $code"
		cat valgrind.txt
		tail -n 20 said.txt
		bad=1
	fi
}
sink() { # sink CODE INPUT OUTPUT
	under "$1" convert "$2" --component=sink.flextrace.timeline --params="output-dir=\"$3\",formats=\"chrome,csv,text\""
}

"$make_trace" lossy lossy
sink 0 lossy lossy.out
[ -s lossy.out/trace.json ] || { echo "FAIL: nothing was converted"; bad=1; }
"$make_trace" undefined torn
stream=$(find torn -type f ! -name metadata | sort | head -n 1)
truncate -s $(($(stat -c %s "$stream") - 7)) "$stream"
sink 1 torn torn.out
cat >flex.json <<'END'
[{"attr":{"TS1":"1000","TS2":"2000","TS3":"3000","TS4":"7000","TS5":"7006"},"name":"k Cmpt Exec","ph":"B","pid":1,"tid":7,"ts":13.000},
{"name":"k Cmpt Exec","ph":"E","pid":1,"tid":7,"ts":17.000},{"name":"backwards","ph":"X","pid":1,"tid":9,"ts":5,"dur":-30}]
END
sink 0 flex.json flex.out
sink 1 lossy /proc/none
exit $bad
