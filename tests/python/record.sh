#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# record.sh FLEXTRACE PYTHON PACKAGES: Python programs that are recorded, against what they are known to do: whole, in
# parts, by line, by the test, and by what they say themselves. PACKAGES is the folder that the package is in.
set -u
FLEXTRACE=$1
PYTHON=$2
here=$(cd "$(dirname "$0")" && pwd)
export PYTHONPATH="$3" PYTHONDONTWRITEBYTECODE=1
cd "$LTTNG_TEST_DIR" || exit 1

fail() {
	echo "FAIL: $*" >&2
	exit 1
}

# record DIR WANTED_CODE COMMAND...
record() {
	dir=$1
	wanted=$2
	shift 2
	status=0
	"$FLEXTRACE" record -o "$dir" -- "$PYTHON" "$@" >"$dir.out" 2>"$dir.err" || status=$?
	[ $status -eq "$wanted" ] || { cat "$dir.out" "$dir.err" >&2; fail "exit code $status of $*, not $wanted"; }
}

# compare DIR TRUTH [PREFIX]
compare() {
	dir=$1
	shift
	"$PYTHON" "$here/compare.py" "$dir/tables/host.csv" "$@" || fail "$dir differs from the truth"
}

truth() {
	"$PYTHON" "$here/truth.py" "$@" || true
}

# What the program says itself.
record api 0 "$here/api.py"
"$PYTHON" "$here/check_api.py" api || fail "the records of api.py"

cat >steps.py <<-END
	import flextrace
	for n in range(10):
	    flextrace.step()
	    with flextrace.scope(f"step {n}"): pass
END
"$FLEXTRACE" record -o steps --schedule=1,1,2,2 -- "$PYTHON" steps.py >steps.out 2>&1 || fail "steps.py"
[ "$(grep -o 'User,step .' steps/tables/host.csv | tr -dc '0-9')" = 2367 ] || fail "record --schedule: $(cat steps/tables/host.csv)"

# Whole: every call of every function of the modules, in all threads; then of all modules, and functions in C.
truth calls calls.json __main__,json,difflib,asyncio,threading "$here/work.py" 3 >plain.out
record whole 3 -m flextrace --modules __main__,json,difflib,asyncio,threading "$here/work.py" 3
head -n 1 whole.out | cmp -s - plain.out || fail "the program's output is another one"
compare whole calls.json
record all 3 -m flextrace --c-functions "$here/work.py" 3
compare all calls.json difflib.
grep -q ',User,list.append,' all/tables/host.csv || fail "no functions in C"

# The hook in Python does what the one in C does.
cat >fallback.py <<-END
	import sys
	import flextrace._library
	flextrace._library.library.has_hook = lambda: 0
	from flextrace._run import main
	main()
END
record fallback 3 fallback.py --modules __main__,json,difflib,asyncio,threading "$here/work.py" 3
compare fallback calls.json

# Who takes the hook off and sets it back gets the calls that are open back, and no others.
echo '{"__main__.<module>": 1, "__main__.Unprofiled": 1, "__main__.outer": 1, "__main__.inner": 3}' >restore.json
record restore 0 -m flextrace --modules __main__ "$here/restore.py"
compare restore restore.json

# In parts.
"$PYTHON" "$here/parts.py" parts.json || fail "parts.py"
record parts 0 -m flextrace -p --modules __main__,json,difflib "$here/parts.py"
compare parts parts.json
record left_on 0 "$here/left_on.py"
grep -q ',User,__main__.late,' left_on/tables/host.csv || fail "enable() without python3 -m flextrace"
[ ! -s left_on.out ] || fail "the end of the interpreter: $(cat left_on.out)"

# By line: those named, and those decorated.
for module in difflib json.encoder; do
	truth lines $module.json $module "$here/work.py" >plain.out
done
record lines 0 -m flextrace -l --functions \
	difflib:SequenceMatcher.find_longest_match,json.encoder:_make_iterencode.\<locals\>._iterencode_dict "$here/work.py"
compare lines difflib.json difflib.SequenceMatcher.find_longest_match
truth lines decorated.json __main__ "$here/lines.py"
record decorated 0 -m flextrace -l "$here/lines.py"
compare decorated decorated.json __main__.work:
compare decorated decorated.json __main__.Recursive.
record fallback_lines 0 fallback.py -l "$here/lines.py"
compare fallback_lines decorated.json __main__.work:
compare fallback_lines decorated.json __main__.Recursive.

# For the program all this is as if nobody was there.
record same 0 "$here/same.py" --modules __main__,threading

# A window for each test.
if "$PYTHON" -c 'import pytest' 2>/dev/null; then
	cp "$here/cases.py" .
	record tests 1 -m pytest -q -p no:cacheprovider -p flextrace.pytest_plugin --flextrace cases.py
	[ "$(grep -o ',Window,[^,]*' tests/tables/host.csv)" = ",Window,cases.py::test_encodes[1]
,Window,cases.py::test_encodes[2]
,Window,cases.py::test_fails
,Window,cases.py::test_asks" ] || fail "windows: $(grep -o ',Window,[^,]*' tests/tables/host.csv)"
	"$FLEXTRACE" record -o windows --windows-only -- "$PYTHON" -m flextrace --modules json -m pytest -q -p no:cacheprovider \
		-p flextrace.pytest_plugin --flextrace cases.py >windows.out 2>&1
	[ "$(grep -c ',User,json.dumps,' windows/tables/host.csv)" -eq 3 ] || fail "functions in windows: $(cat windows/tables/host.csv)"
	! grep -q ',User,json.<module>,' windows/tables/host.csv || fail "what is outside windows is recorded"
	record asked 1 -m flextrace --modules json -m pytest -q -p no:cacheprovider -p flextrace.pytest_plugin cases.py
	[ "$(grep -o ',Window,[^,]*' asked/tables/host.csv)" = ",Window,cases.py::test_asks" ] || fail "the window that is asked for"
	grep -q ',User,json.dumps,' asked/tables/host.csv || fail "no functions beside the window"
else
	echo "pytest is not installed: its plug-in is not tested"
fi
