#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# analyzer_options.sh TOP: docs/guides/from-acelyzer.md says of every option and every file of the analyzer what
# replaces it, and names no option that `flextrace convert` does not have.
set -eu
GUIDE="$1/docs/guides/from-acelyzer.md"
bad=0

for option in -i --input -o --output '-f json' '-f pddf' '-f protobuf' -c --compiler_info -D --loglevel --freq --freq_scaling \
	--event_filter --event_limit no_count_types ts_start -F --flow -R --build_coll_event -M --no_mp_sync -S --use_mp_sync_v2 \
	'-O tid' '-O shift' --max_tid_streams -s --split_events --flex_ts_fix --comm_summarize_seq -k --skip_events \
	--drop_globals --keep_prep --keep_names --power-stats -t --no_stats --tb --disable_tb -P --profile -I --intermediate \
	--disable_file --time_unit --ignore_crit -V --verify -T --sync_to_dev --autopilot_data --disable_input_warnings -C \
	_summary.csv _active.csv _ts_analysis.csv _categories.csv _stats_summary.csv; do
	sed -n 's/^| \([^|]*\) |.*/\1/p' "$GUIDE" | grep -qE -e "[\`, _A-Z\"]$option([\`, \"]|\$)" || {
		echo "from-acelyzer.md does not say what replaces $option" >&2
		bad=1
	}
done

# Options in the right column exist: they are members of the table of options.
for option in $(sed -n 's/^| [^|]* | \(.*\) |$/\1/p' "$GUIDE" | grep -oE -e '`--[a-z-]+' | sort -u); do
	name=${option#\`--}
	grep -qE "\"$name\"," "$1/converter/options.c" "$1/cli/commands/convert.c" || [ "$name" = quiet ] || {
		echo "from-acelyzer.md names --$name, which there is not" >&2
		bad=1
	}
done
exit $bad
