#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# examples.sh TOP CC: what docs/guides/extending.md begins from: tests/examples/ has a new table, a new format and a new
# stage. Each adds to one folder and one list, and changes nothing that was there. Applied to a copy of the sources one
# after the other, they build, and write what they are there for.
set -eu
TOP=$1
CC=$2
command -v patch >/dev/null || { echo "skipped: patch is not installed"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
bad=0

fail() {
	echo "FAIL: $*" >&2
	bad=1
}

# touches EXAMPLE FOLDER LIST: its new files are in FOLDER. Of those that were there it adds to LIST, which names all of
# the kind, and to the CMakeLists.txt of the room or of the folder above, by which they are compiled.
touches() {
	patch=$TOP/tests/examples/$1.patch
	if [ "$2" = "${3%/*}" ]; then build=$2/CMakeLists.txt; else build=${2%/*}/CMakeLists.txt; fi
	grep -A1 -x -e '--- /dev/null' "$patch" | sed -n 's,^+++ b/,,p' >new
	sed -n 's,^--- a/,,p' "$patch" | sort >old
	[ -s new ] || fail "$1.patch has no new file"
	! grep -v "^$2/" new || fail "$1.patch adds files outside of $2"
	printf '%s\n' "$build" "$3" | sort | diff - old || fail "$1.patch changes other files than $3 and $build"
	! grep -e '^-' "$patch" | grep -v -e '^--- ' || fail "$1.patch takes something away"
}

# build EXAMPLE: applies it and builds the command.
build() {
	patch -s -p1 -d src <"$TOP/tests/examples/$1.patch" || { echo "FAIL: $1.patch does not apply" >&2; exit 1; }
	ninja -C build -j 2 flextrace >log 2>&1 || {
		grep -A 20 FAILED log >&2 || tail -n 40 log >&2
		echo "FAIL: with $1.patch it does not build" >&2
		exit 1
	}
	if command -v clang-format >/dev/null; then
		(cd src && sed -n 's,^+++ b/\(.*[.][ch]\)$,\1,p' "$TOP/tests/examples/$1.patch" |
			xargs clang-format --dry-run -Werror) || fail "$1.patch is not formatted"
	fi
}

# convert DIR INPUT [OPTION...]
convert() {
	build/cli/flextrace convert --quiet -o "$@" 2>stderr || { cat stderr >&2; fail "convert $2"; }
}

# has FILE LINE...: behind its heading it has these lines and no others.
has() {
	file=$1
	shift
	{ [ $# -eq 0 ] || printf '%s\n' "$@"; } >want
	tail -n +2 "$file" | diff want - >&2 || fail "$file has other lines"
}

touches table analysis analysis/analyses.h
touches format converter/formats/spans converter/formats/kit/formats.h
touches stage converter/engine/brief converter/pipeline.c
[ $bad -eq 0 ] || exit 1

mkdir -p src/docs
cp "$TOP/CMakeLists.txt" "$TOP/.clang-format" src
(cd "$TOP" && cp -R cmake converter analysis cli tracer firmware-markers "$dir/src")
cp -R "$TOP/docs/man" src/docs
cmake -S src -B build -G Ninja -DCMAKE_C_COMPILER="$CC" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O0 \
	-DFLEXTRACE_WERROR=ON -DFLEXTRACE_TESTS=OFF -DFLEXTRACE_BENCH=OFF >log 2>&1 || { tail -n 40 log >&2; exit 1; }

cat >flex.json <<'JSON'
[{"attr":{"TS1":"1000","TS2":"2000","TS3":"3000","TS4":"7000","TS5":"7006"},"name":"short Cmpt Exec","ph":"X","pid":1,"tid":7,"ts":13,"dur":4},
{"attr":{"TS1":"11000","TS2":"12000","TS3":"13000","TS4":"18000","TS5":"18006"},"name":"long Cmpt Exec","ph":"X","pid":1,"tid":7,"ts":23,"dur":5},
{"name":"call","ph":"X","pid":1,"tid":9,"ts":5,"dur":30},{"name":"instant","ph":"X","pid":1,"tid":9,"ts":50,"dur":0}]
JSON
cat >text <<'TEXT'
name,start_ns,end_ns
inner,2000,3000
outer, whole,1000,4000
cut,7
backwards,9,8
TEXT

# A table: the longer of two kernels. It can be left out as any other.
build table
convert table flex.json
has table/tables/busiest.csv 1,imported,1,0,long,5000
convert without flex.json --without busiest
[ ! -e without/tables/busiest.csv ] || fail "the table cannot be left out"

# A format: known by its content, or told by its name; a bad line costs itself.
build format
convert format text
has format/tables/host.csv ',imported,1,1,,User,"outer, whole",,0,1000,4000,3000,0,certified,,0:2' \
	',imported,1,1,,User,inner,,1,2000,3000,1000,0,certified,,0:1'
has format/tables/losses.csv ',,,malformed,,,,2,,'
grep -q 'rejected: file=text, events=2, first at byte 60: there are not two times behind the name' stderr ||
	fail "nobody told which lines were rejected"
convert told text --as spans
cmp format/tables/host.csv told/tables/host.csv || fail "--as makes another timeline"
head -n 1 text >empty
! build/cli/flextrace convert --quiet -o empty.out empty 2>stderr || fail "a file without an interval was converted"
grep -q 'There is no interval: file=empty' stderr || fail "nobody told that there is no interval"

# A stage: what lasts no time was a row, and is booked as left out.
grep -q ',instant,' table/tables/host.csv || fail "there is nothing for the stage to leave out"
build stage
convert stage flex.json
has stage/tables/host.csv '1,imported,1,9,,User,call,,0,5000,35000,30000,0,certified,,0:2'
has stage/tables/losses.csv '1,imported,1,filtered,,,0,1,50000,50000'
exit $bad
