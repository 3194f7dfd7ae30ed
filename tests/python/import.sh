#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# import.sh PYTHON PACKAGES: the package can be imported, and called, wherever it finds itself: it neither fails nor
# prints, and takes nothing with it that only the reading of tables needs.
set -u
PYTHON=$1
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
export PYTHONDONTWRITEBYTECODE=1

# calls WHAT [PATH]: a program that calls all of it, with the package in PATH.
calls() {
	PYTHONPATH=${2:-$scratch} "$PYTHON" -W error "$here/api.py" >"$scratch/out" 2>&1 && [ ! -s "$scratch/out" ] && return
	cat "$scratch/out"
	echo "FAIL: $1"
	exit 1
}

calls "a library, and nobody who records" "$2"
FLEXTRACE=0 calls "FLEXTRACE=0" "$2"
FLEXTRACE_PROVIDER=/nowhere calls "no provider" "$2"
FLEXTRACE_PYTHON_LIBRARY=/nowhere calls "another library that is not there" "$2"

mkdir "$scratch/flextrace"
cp "$2"/flextrace/*.py "$scratch/flextrace"
calls "no library"
echo "no library" >"$scratch/flextrace/libflextrace-python.so"
calls "a broken library"
cp "$2/flextrace/libflextrace-python.so" "$scratch/flextrace"
echo "raise ImportError" >"$scratch/ctypes.py"
calls "no ctypes"
rm "$scratch/ctypes.py"

PYTHONPATH=$2 "$PYTHON" -c 'import sys, flextrace; sys.exit("pandas" in sys.modules or "argparse" in sys.modules)' ||
	{ echo "FAIL: imports more than it needs"; exit 1; }

# The tool says what is wrong with its options, and what they are.
export PYTHONPATH="$2"
"$PYTHON" -m flextrace --help | grep -q -- '--modules' || { echo "FAIL: --help"; exit 1; }
for wrong in "" "-l" "--functions a:b x.py" "-l --functions a x.py" "-l --c-functions x.py" "--no-such-option x.py"; do
	# shellcheck disable=SC2086 # words
	"$PYTHON" -m flextrace $wrong 2>"$scratch/err"
	[ $? -eq 2 ] && grep -q '^usage: python3 -m flextrace' "$scratch/err" || { echo "FAIL: $wrong"; exit 1; }
done
