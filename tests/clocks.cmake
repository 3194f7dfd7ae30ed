# SPDX-License-Identifier: Apache-2.0
# Tests of unwrap, calibrate and align: each links only the sources it names.

set(clocks_core converter/clock_options.c converter/definitions.c converter/error.c converter/gather.c converter/identity.c
	converter/ledger.c converter/losses.c converter/strings.c ${table_sources})
set(clocks_sources tests/clock_model.c tests/clock_truth.c converter/marzullo.c converter/posts.c)
foreach(file axis bare chains choices edges epochs facts first instances late marks match order rate runs shift spans strays trips unwrap wide window)
	list(APPEND clocks_sources converter/unwrap/${file}.c)
endforeach()
foreach(file band bridge calibrate choose claims doubts eras fit floors follow guide line loose map mean overlaps parts proof reach reference reject report returns room slope smooth soft track)
	list(APPEND clocks_sources converter/calibrate/${file}.c)
endforeach()

foreach(name unwrap unwrap_records unwrap_boots unwrap_reuse unwrap_strays)
	flextrace_add_unit_test(NAME ${name} SOURCES ${clocks_sources} ${clocks_core}
		tests/text_source.c tests/unwrap_fixture.c converter/decode/decode.c
		converter/decode/schema.c LIBS Threads::Threads m)
endforeach()
foreach(name calibrate band line loose returns steps track estimates clock_doubts)
	flextrace_add_unit_test(NAME ${name} SOURCES ${clocks_sources} ${clocks_core}
		LIBS Threads::Threads m)
endforeach()
foreach(name clock_scenarios clock_changes)
	flextrace_add_unit_test(NAME ${name} SOURCES ${clocks_sources} ${clocks_core}
		tests/clock_oracle.c tests/clock_plan.c tests/clock_scenarios.c
		LIBS Threads::Threads m)
endforeach()
flextrace_add_unit_test(NAME clock_wander SOURCES ${clocks_sources} ${clocks_core}
	tests/clock_wander.c LIBS Threads::Threads m)
flextrace_add_unit_test(NAME clock_reuse SOURCES ${clocks_sources} ${clocks_core} tests/clock_plan.c
	tests/clock_reuse.c tests/clock_scenarios.c LIBS Threads::Threads m)
flextrace_add_unit_test(NAME unwrap_wide SOURCES ${clocks_sources} ${clocks_core}
	LIBS Threads::Threads m)
flextrace_add_unit_test(NAME clock_counters SOURCES ${clocks_sources} ${clocks_core}
	LIBS Threads::Threads m)
flextrace_add_unit_test(NAME clock_warnings SOURCES ${clocks_sources} ${clocks_core}
	LIBS Threads::Threads m)
flextrace_add_unit_test(NAME clock_options SOURCES ${clocks_sources} ${clocks_core}
	converter/clock_options_file.c converter/text_file.c LIBS PkgConfig::CJSON Threads::Threads m)
set(align_sources converter/align/align.c converter/align/curve.c
	converter/align/estimate.c converter/align/filter.c converter/align/graph.c
	converter/align/graph_order.c converter/align/grid.c converter/align/map.c converter/align/mesh.c converter/align/pace.c converter/align/prove.c converter/align/cut.c converter/align/stretch.c converter/align/room.c converter/align/doubt.c converter/align/ends.c converter/align/narrow.c converter/align/spots.c
	converter/align/report.c converter/align/seed.c converter/align/stats.c
	converter/align/sync_ops.c
	converter/align/vote.c converter/posts.c converter/error.c converter/ledger.c converter/losses.c converter/strings.c
	${table_sources})
flextrace_add_unit_test(NAME align SOURCES ${align_sources} tests/align_fixture.c
	LIBS Threads::Threads m)
flextrace_add_unit_test(NAME messages SOURCES ${align_sources} converter/align/messages.c converter/align/uses.c converter/align/turns.c
	converter/message_name.c tests/align_fixture.c LIBS Threads::Threads m)
flextrace_add_unit_test(NAME messages_truth SOURCES ${align_sources} converter/align/messages.c
	converter/align/uses.c converter/align/turns.c converter/message_name.c LIBS Threads::Threads m)
flextrace_add_unit_test(NAME grid SOURCES converter/align/grid.c)
flextrace_add_unit_test(NAME sync_ops SOURCES converter/align/sync_ops.c)
flextrace_add_unit_test(NAME align_short SOURCES ${align_sources} tests/align_truth.c
	LIBS Threads::Threads m)
flextrace_add_unit_test(NAME align_rates SOURCES ${align_sources} tests/align_truth.c
	tests/align_outcome.c tests/align_oracle.c LIBS Threads::Threads m)
flextrace_add_unit_test(NAME align_scenarios SOURCES ${align_sources} tests/align_truth.c
	tests/align_outcome.c tests/align_oracle.c LIBS Threads::Threads m)

# Sources that both lists name stand once.
set(clock_memory_sources ${clocks_sources} ${clocks_core} ${align_sources})
list(REMOVE_DUPLICATES clock_memory_sources)
flextrace_add_unit_test(NAME clock_memory SOURCES ${clock_memory_sources} tests/align_truth.c
	tests/failing_malloc.c LIBS Threads::Threads m)
flextrace_fail_allocations(test_clock_memory)

# Flex traces with truth, for whoever imports them: flex-truth SEED OUT.json OUT.truth
set(flex_truth_sources tests/clock_model.c tests/flex_truth.c tests/flex_damage.c
	tests/flex_truth_write.c)
flextrace_add_unit_test(NAME flex_truth SOURCES ${flex_truth_sources} LIBS PkgConfig::CJSON m)
list(TRANSFORM flex_truth_sources PREPEND ${PROJECT_SOURCE_DIR}/)
add_executable(flex-truth flex_truth_main.c ${flex_truth_sources})
target_link_libraries(flex-truth PRIVATE flextrace_options m)
