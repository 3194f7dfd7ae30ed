#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# borders.sh TOP BUILD: an include against the flow of data does not compile, nor one of a header that is a room's own,
# and one along it does. As the file of a room is compiled, so is a file of one include. What is asked for must be
# there: else a name that has changed would pass. 77: no python3.
set -eu
TOP=$1
BUILD=$2
command -v python3 >/dev/null || exit 77
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# prepare FILE HEADER: makes the command that compiles, as FILE of the tree is compiled, one that includes HEADER alone.
prepare() {
	[ -f "$TOP/$2" ] || [ -f "$TOP/converter/$2" ] || {
		echo "FAIL: there is no header $2" >&2
		exit 1
	}
	printf '#include "%s"\n' "$2" >"$dir/one.c"
	python3 - "$BUILD/compile_commands.json" "$TOP/$1" "$dir/one.c" <<-'END' >"$dir/command"
		import json, shlex, sys
		commands, of, one = sys.argv[1:]
		rooms = "room_", "flextrace_core.dir", "flextrace_bt2.dir", "flextrace_recorder.dir", "flextrace.dir"
		entry = [e for e in json.load(open(commands)) if e["file"] == of and any(r in e["command"] for r in rooms)][0]
		words = shlex.split(entry["command"])
		words = words[: words.index("-o")] + ["-fsyntax-only", one]
		print("cd", shlex.quote(entry["directory"]), "&&", " ".join(map(shlex.quote, words)))
	END
}

compile() {
	sh -e "$dir/command" 2>"$dir/said"
}

sees() {
	prepare "$1" "$2"
	compile || {
		cat "$dir/said" >&2
		echo "FAIL: $1 does not see $2" >&2
		exit 1
	}
}

sees_not() {
	prepare "$1" "$2"
	! compile || {
		echo "FAIL: $1 sees $2" >&2
		exit 1
	}
	grep -q "$2: No such file\|'$2' file not found" "$dir/said" || {
		cat "$dir/said" >&2
		exit 1
	}
}

sees converter/model/ledger/ledger.c base/error.h
sees converter/engine/unwrap/rate.c model/model.h
sees analysis/active.c model/timeline/timeline.h
sees converter/bt2/read/feed.c engine/decode/decode.h
sees converter/pipeline.c analysis/analysis.h
sees_not converter/base/error.c model/model.h
sees_not converter/model/ledger/ledger.c engine/unwrap/unwrap.h
sees_not converter/engine/unwrap/rate.c engine/align/align.h
sees_not converter/engine/calibrate/fit.c engine/derive/derive.h
sees_not converter/formats/flex/flex.c output/emit.h
sees_not converter/output/emit.c analysis/analysis.h
sees_not converter/output/emit.c engine/align/align.h
sees_not converter/findings/power.c engine/derive/derive.h
sees_not converter/formats/kit/import.c engine/decode/decode.h
sees_not analysis/active.c output/emit.h

# Formats: kit <- chrome-json <- flex, torch <- pairing; who stands beside them uses the kit.
sees converter/formats/chrome-json/event_reader.c formats/kit/format.h
sees converter/formats/torch/torch.c formats/chrome-json/event_reader.h
sees converter/formats/pairing/pair_filter.c formats/torch/torch.h
sees converter/formats/all/each_format.c formats/pairing/event_files.h
sees_not converter/formats/kit/import.c formats/chrome-json/trace_events.h
sees_not converter/formats/kit/import.c formats/all/each_format.h
sees_not converter/formats/chrome-json/event_line.c formats/flex/flex.h
sees_not converter/formats/flex/flex.c formats/torch/torch.h
sees_not converter/formats/flex/flex.c formats/pairing/event_files.h
sees_not converter/formats/torch/torch.c formats/flex/flex.h
sees_not converter/formats/torch/torch.c formats/pairing/event_files.h
sees_not converter/formats/pairing/pairing.c formats/torch/torch_impl.h
sees_not converter/formats/aie/aie.c formats/pairing/event_files.h
sees_not converter/formats/tt-metal/tt_csv.c formats/chrome-json/trace_events.h
sees_not converter/formats/ctf/ctf_repair.c formats/kit/import.h
sees_not converter/imports.c formats/chrome-json/event_reader.h

# What stands above the rooms sees those that it names.
sees converter/bt2/sink/sink.c conversion.h
sees cli/commands/convert.c conversion.h
sees cli/report/summary_ops.c analysis/tt-metal/ops_columns.h
sees_not converter/bt2/read/feed.c engine/unwrap/unwrap.h
sees_not converter/bt2/sink/sink.c engine/calibrate/calibrate.h
sees_not converter/bt2/sink/sink.c output/emit.h
sees_not converter/bt2/source/source.c analysis/analysis.h
sees_not cli/commands/convert.c engine/decode/decode.h
sees_not cli/commands/convert.c engine/align/align.h
sees_not cli/recording/flight.c analysis/analysis.h
sees_not cli/recording/flight.c formats/kit/import.h
sees_not cli/recording/flight.c tracer/src/tracer.h

# What is a room's own.
sees converter/formats/aie/aie.c formats/kit/format.h
sees_not converter/imports.c formats/kit/format.h
sees_not converter/bt2/source/source.c formats/kit/paths.h
sees_not converter/bt2/read/feed.c engine/unwrap/unwrap_impl.h
sees_not converter/pipeline.c engine/calibrate/calibrate_impl.h
sees_not converter/pipeline.c analysis/analysis_impl.h
sees_not converter/output/emit.c findings/collectives/collectives_sets.h
sees_not converter/pipeline.c bt2/read/reader.h
sees_not converter/findings/power.c output/emit.h
