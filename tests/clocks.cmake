# SPDX-License-Identifier: Apache-2.0
# Tests of unwrap, calibrate and align: each links only the sources it names.

set(clocks_core converter/definitions.c converter/error.c converter/gather.c converter/identity.c
	converter/ledger.c converter/strings.c converter/table.c)
set(clocks_sources tests/clock_truth.c converter/marzullo.c converter/unwrap.c
	converter/unwrap_axis.c converter/unwrap_facts.c converter/unwrap_late.c
	converter/unwrap_marks.c converter/unwrap_match.c converter/unwrap_rate.c
	converter/unwrap_runs.c converter/unwrap_window.c converter/calibrate/band.c
	converter/calibrate/calibrate.c converter/calibrate/fit.c converter/calibrate/line.c
	converter/calibrate/map.c converter/calibrate/reference.c converter/calibrate/reject.c
	converter/calibrate/report.c converter/calibrate/slope.c)

flextrace_add_unit_test(NAME unwrap SOURCES ${clocks_sources} ${clocks_core} tests/text_source.c
	converter/decode/decode.c converter/decode/schema.c LIBS Threads::Threads m)
flextrace_add_unit_test(NAME calibrate SOURCES ${clocks_sources} ${clocks_core}
	LIBS Threads::Threads m)
flextrace_add_unit_test(NAME align SOURCES converter/align/align.c converter/error.c
	converter/ledger.c converter/table.c)
