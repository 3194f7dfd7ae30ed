# SPDX-License-Identifier: Apache-2.0
# Tests of converter/engine/derive and analysis: each links only the sources it names. Clocks are faked.

set(derive_text_source tests/support/text_source.c converter/engine/decode/decode.c converter/model/schema.c
	converter/model/identity/definitions.c converter/base/error.c converter/engine/gather.c converter/model/identity/identity.c
	converter/model/ledger/ledger.c converter/model/losses.c converter/base/text/strings.c ${table_sources})
set(derive_sources converter/engine/derive/attributes.c converter/engine/derive/derive.c
	converter/engine/derive/device.c converter/engine/derive/flows.c converter/engine/derive/host.c
	converter/engine/derive/jobs.c converter/base/text/json_text.c converter/model/lanes.c
	converter/engine/derive/life.c converter/engine/derive/limits.c
	converter/engine/derive/markers.c
	converter/engine/derive/pairs.c converter/engine/derive/points.c converter/base/row_sorter.c
	converter/engine/derive/told_flows.c converter/engine/derive/tracks.c converter/engine/derive/zones.c)

flextrace_add_unit_test(NAME order SOURCES converter/base/order.c converter/base/radix_sort.c converter/base/select_kth.c)
flextrace_add_unit_test(NAME row_sorter SOURCES converter/model/lanes.c converter/base/row_sorter.c
	${table_sources})
foreach(name derive derive_device derive_flows derive_marks derive_overlaps)
	flextrace_add_unit_test(NAME ${name}
		SOURCES tests/support/derive_fixture.c ${derive_sources} ${derive_text_source}
		LIBS PkgConfig::CJSON Threads::Threads)
endforeach()
flextrace_add_unit_test(NAME analysis
	SOURCES tests/support/derive_fixture.c tests/support/scratch.c ${derive_sources} ${derive_text_source}
		analysis/analysis.c tests/support/analysis_files.c
		converter/model/words/kinds.c converter/base/text/writer.c converter/base/text/writer_text.c
	LIBS PkgConfig::CJSON ZLIB::ZLIB Threads::Threads m)
foreach(name bandwidth collectives communication_matrix event_class iterations_rows power preps work)
	flextrace_add_unit_test(NAME ${name} SOURCES tests/support/analysis_files.c tests/support/analysis_fixture.c tests/support/timeline_fixture.c
		tests/support/scratch.c LIBS flextrace_core)
endforeach()
foreach(name breakdown communication launches path path_slack path_truth)
	flextrace_add_unit_test(NAME ${name} SOURCES tests/support/analysis_files.c tests/support/analysis_fixture.c tests/support/timeline_fixture.c
		tests/support/scratch.c tests/support/table_cells.c tests/support/work_world.c LIBS flextrace_core)
endforeach()
target_sources(test_path PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/path_fixture.c)
target_sources(test_path_truth PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/path_fixture.c)
target_sources(test_path_slack PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/path_fixture.c)
flextrace_add_unit_test(NAME difference SOURCES converter/findings/statistics/difference.c LIBS m)
foreach(name hlo kernels_by key_averages memory_peaks stacks)
	flextrace_add_unit_test(NAME ${name} SOURCES tests/support/analysis_files.c tests/support/analysis_fixture.c tests/support/calls_fixture.c
		tests/support/timeline_fixture.c tests/support/scratch.c LIBS flextrace_core)
endforeach()
flextrace_add_unit_test(NAME analysis_repeats SOURCES converter/findings/statistics/repeats.c)
foreach(name active iterations stamps)
	flextrace_add_unit_test(NAME analysis_${name}
		SOURCES tests/support/analysis_files.c tests/support/analysis_fixture.c tests/support/timeline_fixture.c tests/support/scratch.c analysis/analysis.c
		LIBS PkgConfig::CJSON ZLIB::ZLIB Threads::Threads m)
endforeach()

# Logs of a real compiler lie beside the repository, or its tests of them are skipped.
flextrace_add_unit_test(NAME compiler_info
	SOURCES converter/findings/compiler_info.c converter/findings/compiler_log.c converter/findings/compiler_dir.c tests/support/scratch.c
	LIBS PkgConfig::CJSON Threads::Threads
	DEFINITIONS "SAMPLES_DIR=\"${FLEXTRACE_SHARED_DATA}/flex-json\"")
foreach(name categories pt_active)
	flextrace_add_unit_test(NAME ${name} SOURCES tests/support/analysis_files.c tests/support/costs_fixture.c tests/support/scratch.c
		LIBS flextrace_core)
endforeach()
flextrace_add_unit_test(NAME kernel_times SOURCES tests/support/scratch.c LIBS flextrace_core)
flextrace_add_unit_test(NAME utilization SOURCES tests/support/analysis_files.c tests/support/costs_fixture.c tests/support/failing_malloc.c tests/support/scratch.c
	LIBS flextrace_core)
flextrace_fail_allocations(test_utilization)
