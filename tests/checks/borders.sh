#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# borders.sh TOP BUILD: an include against the flow of data does not compile, and one along it does. As the file of a
# room is compiled, so is a file of one include. 77: no python3.
set -eu
TOP=$1
BUILD=$2
command -v python3 >/dev/null || exit 77
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# compile FILE HEADER: as FILE of the tree is compiled, one that includes HEADER alone.
compile() {
	printf '#include "%s"\n' "$2" >"$dir/one.c"
	python3 - "$BUILD/compile_commands.json" "$TOP/$1" "$dir/one.c" <<-'END' >"$dir/command"
		import json, shlex, sys
		commands, of, one = sys.argv[1:]
		entry = [e for e in json.load(open(commands)) if e["file"] == of and "room_" in e["command"]][0]
		words = shlex.split(entry["command"])
		words = words[: words.index("-o")] + ["-fsyntax-only", one]
		print("cd", shlex.quote(entry["directory"]), "&&", " ".join(map(shlex.quote, words)))
	END
	sh "$dir/command" 2>"$dir/said"
}

sees() {
	compile "$1" "$2" || {
		cat "$dir/said" >&2
		echo "FAIL: $1 does not see $2" >&2
		exit 1
	}
}

sees_not() {
	! compile "$1" "$2" || {
		echo "FAIL: $1 sees $2" >&2
		exit 1
	}
	grep -q 'No such file' "$dir/said" || {
		cat "$dir/said" >&2
		exit 1
	}
}

sees converter/model/ledger/ledger.c base/error.h
sees converter/engine/unwrap/rate.c model/model.h
sees analysis/active.c model/timeline.h
sees_not converter/base/error.c model/model.h
sees_not converter/model/ledger/ledger.c engine/unwrap/unwrap.h
sees_not converter/engine/unwrap/rate.c engine/align/align.h
sees_not converter/engine/calibrate/fit.c engine/derive/derive.h
sees_not converter/formats/flex/flex.c output/emit.h
sees_not converter/output/emit.c analysis/analysis.h
sees_not converter/output/emit.c engine/align/align.h
sees_not converter/findings/power.c engine/derive/derive.h
sees_not converter/formats/import.c engine/decode/decode.h
sees_not analysis/active.c output/emit.h
