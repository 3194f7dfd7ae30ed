# SPDX-License-Identifier: Apache-2.0
# Shared by the tests of load: ../e2e/lib.sh, and how figures are taken.
# shellcheck shell=sh
. "$(dirname "$0")/../e2e/lib.sh"

# Without the memory that AddressSanitizer keeps back.
export ASAN_OPTIONS="$ASAN_OPTIONS:quarantine_size_mb=1"

# peak COMMAND...: runs it and stores in $peak_mib how much memory it had resident at most.
peak() {
	"$SOURCE/tests/load/peak.py" peak "$@" || return 1
	peak_mib=$(($(cat peak) >> 20))
	rm peak
}

# records DIR CLASS: how many records of a class were read, by run.json.
records() {
	python3 -c 'import json, sys
print(json.load(open(sys.argv[1] + "/run.json"))["balance"].get(sys.argv[2], {"read": 0})["read"])' "$1" "$2"
}
