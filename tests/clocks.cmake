# SPDX-License-Identifier: Apache-2.0
# Tests of unwrap, calibrate and align: each links only the sources it names.

set(clocks_core converter/model/identity/clock_options.c converter/model/identity/definitions.c converter/base/error.c converter/engine/gather.c converter/model/identity/identity.c
	converter/model/ledger/ledger.c converter/model/losses.c converter/base/text/strings.c ${table_sources})
set(clocks_sources converter/base/select_kth.c tests/support/clock_model.c tests/support/clock_truth.c converter/base/marzullo.c converter/engine/posts.c)
foreach(file axis marks/bare estimates/chains match/choices match/edges estimates/epochs samples first match/instances late marks/marks match/match order rate marks/runs setbacks shift estimates/spans strays estimates/trips estimates/turns unwrap wide window)
	list(APPEND clocks_sources converter/engine/unwrap/${file}.c)
endforeach()
foreach(file band/band band/bridge calibrate choose claims breaks/doubts breaks/eras fit floors band/follow band/guide line breaks/loose map band/mean breaks/overlaps breaks/parts proof breaks/reach band/reference reject report restarts breaks/returns breaks/room breaks/sides slope band/smooth soft breaks/track)
	list(APPEND clocks_sources converter/engine/calibrate/${file}.c)
endforeach()

foreach(name unwrap unwrap_records unwrap_boots unwrap_reuse unwrap_strays
        unwrap_gated)
	flextrace_add_unit_test(NAME ${name} SOURCES ${clocks_sources} ${clocks_core}
		tests/support/text_source.c tests/support/unwrap_fixture.c converter/engine/decode/decode.c
		converter/model/schema.c LIBS Threads::Threads m)
endforeach()
foreach(name calibrate band line loose proof returns steps track estimates clock_doubts)
	flextrace_add_unit_test(NAME ${name} SOURCES ${clocks_sources} ${clocks_core}
		LIBS Threads::Threads m)
endforeach()
foreach(name clock_scenarios clock_changes clock_wide)
	flextrace_add_unit_test(NAME ${name} SOURCES ${clocks_sources} ${clocks_core}
		tests/support/clock_changes.c tests/support/clock_oracle.c tests/support/clock_plan.c tests/support/clock_scenarios.c
		LIBS Threads::Threads m)
endforeach()
flextrace_add_unit_test(NAME clock_wander SOURCES ${clocks_sources} ${clocks_core}
	tests/support/clock_wander.c LIBS Threads::Threads m)
flextrace_add_unit_test(NAME clock_reuse SOURCES ${clocks_sources} ${clocks_core} tests/support/clock_plan.c
	tests/support/clock_reuse.c tests/support/clock_scenarios.c LIBS Threads::Threads m)
flextrace_add_unit_test(NAME unwrap_wide SOURCES ${clocks_sources} ${clocks_core}
	LIBS Threads::Threads m)
flextrace_add_unit_test(NAME clock_counters SOURCES ${clocks_sources} ${clocks_core}
	LIBS Threads::Threads m)
flextrace_add_unit_test(NAME clock_resets SOURCES ${clocks_sources} ${clocks_core}
	LIBS Threads::Threads m)
flextrace_add_unit_test(NAME clock_warnings SOURCES ${clocks_sources} ${clocks_core}
	LIBS Threads::Threads m)
flextrace_add_unit_test(NAME clock_options SOURCES ${clocks_sources} ${clocks_core}
	converter/model/identity/clock_options_file.c converter/base/text/text_file.c LIBS PkgConfig::CJSON Threads::Threads m)
set(align_sources converter/engine/align/align.c converter/engine/align/curve.c
	converter/engine/align/estimate.c converter/engine/align/filter.c converter/engine/align/graph.c
	converter/engine/align/graph_order.c converter/engine/align/grid.c converter/engine/align/map.c converter/engine/align/mesh.c converter/engine/align/proof/pace.c converter/engine/align/proof/prove.c converter/engine/align/proof/cut.c converter/engine/align/proof/cuts.c converter/engine/align/proof/stretch.c converter/engine/align/proof/room.c converter/engine/align/proof/doubt.c converter/engine/align/proof/ends.c converter/engine/align/proof/narrow.c converter/engine/align/proof/spots.c
	converter/engine/align/report.c converter/engine/align/seed.c converter/base/select_kth.c
	converter/model/words/sync_ops.c
	converter/engine/align/vote.c converter/engine/posts.c converter/base/error.c converter/model/ledger/ledger.c converter/model/losses.c converter/base/text/strings.c
	${table_sources})
flextrace_add_unit_test(NAME align SOURCES ${align_sources} tests/support/align_fixture.c
	LIBS Threads::Threads m)
flextrace_add_unit_test(NAME messages SOURCES ${align_sources} converter/engine/align/messages.c converter/engine/align/uses.c converter/engine/align/turns.c
	converter/model/words/message_name.c tests/support/align_fixture.c LIBS Threads::Threads m)
flextrace_add_unit_test(NAME messages_truth SOURCES ${align_sources} converter/engine/align/messages.c
	converter/engine/align/uses.c converter/engine/align/turns.c converter/model/words/message_name.c LIBS Threads::Threads m)
flextrace_add_unit_test(NAME grid SOURCES converter/engine/align/grid.c)
flextrace_add_unit_test(NAME sync_ops SOURCES converter/model/words/sync_ops.c)
flextrace_add_unit_test(NAME paces SOURCES converter/engine/align/proof/pace.c LIBS m)
flextrace_add_unit_test(NAME align_short SOURCES ${align_sources} tests/support/align_truth.c
	LIBS Threads::Threads m)
flextrace_add_unit_test(NAME align_rates SOURCES ${align_sources} tests/support/align_truth.c
	tests/support/align_outcome.c tests/support/align_oracle.c LIBS Threads::Threads m)
flextrace_add_unit_test(NAME align_scenarios SOURCES ${align_sources} tests/support/align_truth.c
	tests/support/align_outcome.c tests/support/align_oracle.c LIBS Threads::Threads m)

# Sources that both lists name stand once.
set(clock_memory_sources ${clocks_sources} ${clocks_core} ${align_sources})
list(REMOVE_DUPLICATES clock_memory_sources)
flextrace_add_unit_test(NAME clock_memory SOURCES ${clock_memory_sources} tests/support/align_truth.c
	tests/support/failing_malloc.c LIBS Threads::Threads m)
flextrace_fail_allocations(test_clock_memory)

# Flex traces with truth, for whoever imports them: flex-truth SEED OUT.json OUT.truth
set(flex_truth_sources tests/support/clock_model.c tests/support/flex_truth.c tests/support/flex_damage.c
	tests/support/flex_truth_write.c)
flextrace_add_unit_test(NAME flex_truth SOURCES ${flex_truth_sources} LIBS PkgConfig::CJSON m)
list(TRANSFORM flex_truth_sources PREPEND ${PROJECT_SOURCE_DIR}/)
add_executable(flex-truth support/flex_truth_main.c ${flex_truth_sources})
target_link_libraries(flex-truth PRIVATE flextrace_options m)
