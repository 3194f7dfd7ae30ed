# SPDX-License-Identifier: Apache-2.0
# Tests of converter/derive and analysis: each links only the sources it names. Clocks are faked.

set(derive_text_source tests/text_source.c converter/decode/decode.c converter/decode/schema.c
	converter/definitions.c converter/error.c converter/gather.c converter/identity.c
	converter/ledger.c converter/losses.c converter/strings.c ${table_sources})
set(derive_sources converter/derive/attributes.c converter/derive/derive.c
	converter/derive/device.c converter/derive/flows.c converter/derive/host.c
	converter/derive/jobs.c converter/json_text.c converter/derive/lanes.c
	converter/derive/life.c converter/derive/markers.c
	converter/derive/pairs.c converter/derive/points.c converter/derive/preps.c converter/derive/rows.c
	converter/derive/tracks.c converter/derive/zones.c)

flextrace_add_unit_test(NAME derive_rows SOURCES converter/derive/lanes.c converter/derive/rows.c
	${table_sources})
foreach(name derive derive_device derive_marks derive_overlaps derive_preps)
	flextrace_add_unit_test(NAME ${name}
		SOURCES tests/derive_fixture.c ${derive_sources} ${derive_text_source}
		LIBS PkgConfig::CJSON Threads::Threads)
endforeach()
flextrace_add_unit_test(NAME analysis
	SOURCES tests/derive_fixture.c tests/scratch.c ${derive_sources} ${derive_text_source}
		analysis/analysis.c
		converter/emit/kinds.c converter/emit/writer.c converter/emit/writer_text.c
	LIBS PkgConfig::CJSON ZLIB::ZLIB Threads::Threads m)
foreach(name bandwidth collectives event_class iterations_rows power)
	flextrace_add_unit_test(NAME ${name} SOURCES tests/analysis_fixture.c tests/timeline_fixture.c
		tests/scratch.c LIBS flextrace_core)
endforeach()
flextrace_add_unit_test(NAME analysis_repeats SOURCES analysis/repeats.c)
flextrace_add_unit_test(NAME order SOURCES analysis/order.c converter/error.c ${table_sources} LIBS Threads::Threads)
foreach(name active iterations stamps)
	flextrace_add_unit_test(NAME analysis_${name}
		SOURCES tests/analysis_fixture.c tests/timeline_fixture.c tests/scratch.c analysis/analysis.c
		LIBS PkgConfig::CJSON ZLIB::ZLIB Threads::Threads m)
endforeach()

# Logs of a real compiler lie beside the repository, or its tests of them are skipped.
flextrace_add_unit_test(NAME compiler_info
	SOURCES analysis/compiler_info.c analysis/compiler_log.c analysis/compiler_dir.c tests/scratch.c
	LIBS PkgConfig::CJSON Threads::Threads
	DEFINITIONS "SAMPLES_DIR=\"${FLEXTRACE_SHARED_DATA}/flex-json\"")
foreach(name categories pt_active)
	flextrace_add_unit_test(NAME ${name} SOURCES tests/costs_fixture.c tests/scratch.c
		LIBS flextrace_core)
endforeach()
flextrace_add_unit_test(NAME kernel_times SOURCES tests/scratch.c LIBS flextrace_core)
flextrace_add_unit_test(NAME utilization SOURCES tests/costs_fixture.c tests/failing_malloc.c tests/scratch.c
	LIBS flextrace_core)
flextrace_fail_allocations(test_utilization)
