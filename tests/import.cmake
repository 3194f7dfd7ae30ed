# SPDX-License-Identifier: Apache-2.0
# Tests of converter/import.

set(trace_events_sources converter/base/error.c converter/formats/chrome-json/event_scan.c
	converter/base/text/json_scan.c converter/formats/kit/text_window.c
	converter/formats/chrome-json/trace_elements.c converter/formats/chrome-json/trace_events.c
	converter/formats/kit/trace_file.c converter/base/text/json_value.c)

flextrace_add_unit_test(NAME trace_events SOURCES tests/support/trace_digest.c tests/support/failing_malloc.c
	${trace_events_sources} LIBS ZLIB::ZLIB)
flextrace_fail_allocations(test_trace_events)
flextrace_add_unit_test(NAME trace_damage SOURCES tests/support/trace_digest.c ${trace_events_sources}
	LIBS ZLIB::ZLIB)
flextrace_add_unit_test(NAME trace_files SOURCES tests/support/trace_digest.c tests/support/scratch.c
	${trace_events_sources} LIBS ZLIB::ZLIB
	DEFINITIONS FLEXTRACE_SHARED_DATA="${FLEXTRACE_SHARED_DATA}")

# The Flex importer, from its JSON to the tables.
set(flex_fixture tests/support/flex_fixture.c tests/support/scratch.c cli/report/csv_table.c converter/base/text/csv_reader.c converter/pipeline.c)
flextrace_add_unit_test(NAME flex SOURCES ${flex_fixture})
foreach(name hard names)
	flextrace_add_unit_test(NAME flex_${name} SOURCES ${flex_fixture} tests/support/flex_checks.c
		tests/support/csv_checker.c tests/support/trace_checker.c
		LIBS PkgConfig::CJSON DEFINITIONS FORMATS_DIR="${PROJECT_SOURCE_DIR}/docs")
endforeach()
flextrace_add_unit_test(NAME aie SOURCES ${flex_fixture} tests/support/aie_fixture.c)
foreach(name words run)
	flextrace_add_unit_test(NAME aie_${name} SOURCES ${flex_fixture} tests/support/aie_fixture.c LIBS PkgConfig::CJSON
		DEFINITIONS FLEXTRACE_SHARED_DATA="${FLEXTRACE_SHARED_DATA}")
endforeach()
flextrace_add_unit_test(NAME torch SOURCES ${flex_fixture})
flextrace_add_unit_test(NAME source SOURCES ${flex_fixture} LIBS PkgConfig::CJSON)
flextrace_add_unit_test(NAME torch_collectives SOURCES ${flex_fixture})
flextrace_add_unit_test(NAME torch_ranks SOURCES ${flex_fixture} LIBS ZLIB::ZLIB)
flextrace_add_unit_test(NAME kinds SOURCES converter/model/words/kinds.c)
flextrace_add_unit_test(NAME told SOURCES converter/model/words/told.c ${trace_events_sources} LIBS ZLIB::ZLIB)
flextrace_add_unit_test(NAME torch_data SOURCES ${flex_fixture}
	DEFINITIONS FLEXTRACE_SHARED_DATA="${FLEXTRACE_SHARED_DATA}")
flextrace_add_unit_test(NAME flex_messages SOURCES ${flex_fixture} tests/support/clock_model.c tests/support/flex_truth.c
	tests/support/flex_damage.c
	tests/support/flex_truth_write.c)
flextrace_add_unit_test(NAME flex_data SOURCES ${flex_fixture} tests/support/clock_model.c tests/support/flex_truth.c
	tests/support/flex_truth_write.c tests/support/flex_damage.c tests/support/flex_judge.c
	DEFINITIONS FLEXTRACE_SHARED_DATA="${FLEXTRACE_SHARED_DATA}")
flextrace_add_unit_test(NAME flex_misaligned SOURCES ${flex_fixture} tests/support/clock_model.c
	tests/support/flex_truth.c tests/support/flex_truth_write.c tests/support/flex_damage.c tests/support/flex_judge.c)
flextrace_add_unit_test(NAME flex_damage SOURCES ${flex_fixture} tests/support/clock_model.c
	tests/support/flex_truth.c tests/support/flex_truth_write.c tests/support/flex_damage.c tests/support/flex_judge.c)
flextrace_add_unit_test(NAME flex_bars SOURCES ${flex_fixture} tests/support/clock_model.c
	tests/support/flex_truth.c tests/support/flex_truth_write.c tests/support/flex_damage.c tests/support/flex_judge.c)
flextrace_add_unit_test(NAME flex_epochs SOURCES ${flex_fixture} tests/support/clock_model.c
	tests/support/flex_truth.c tests/support/flex_truth_write.c tests/support/flex_damage.c tests/support/flex_judge.c)
flextrace_add_unit_test(NAME spool SOURCES tests/support/scratch.c converter/formats/kit/spool.c converter/base/paths.c)
flextrace_add_unit_test(NAME flex_memory SOURCES converter/formats/chrome-json/event_reader.c)
target_link_options(test_flex_memory PRIVATE
	-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free
	-Wl,--wrap=strdup,--wrap=asprintf,--wrap=vasprintf)
flextrace_add_unit_test(NAME pair_align SOURCES converter/formats/pairing/pair_align.c
	converter/formats/pairing/pair_match.c converter/formats/pairing/pair_vote.c)
flextrace_add_unit_test(NAME pairing SOURCES ${flex_fixture} tests/support/clock_model.c tests/support/flex_truth.c
	tests/support/flex_truth_write.c tests/support/flex_damage.c)

# Marker areas in copies of memory.
flextrace_add_unit_test(NAME area_file SOURCES tests/support/scratch.c tracer/src/area/area_save.c tracer/src/area/drain.c
	converter/formats/marker-area/area_file.c firmware-markers/marker.c
	firmware-markers/ports/posix/port_posix.c INCLUDES firmware-markers/ports/posix/include)
flextrace_add_unit_test(NAME tt_csv SOURCES ${flex_fixture})
flextrace_add_unit_test(NAME tt_report SOURCES ${flex_fixture})
flextrace_add_unit_test(NAME plain_table SOURCES ${flex_fixture})
flextrace_add_unit_test(NAME xplane SOURCES ${flex_fixture} tests/support/protobuf_builder.c LIBS ZLIB::ZLIB)
foreach(name perfetto perfetto_damage)
	flextrace_add_unit_test(NAME ${name} SOURCES ${flex_fixture} tests/support/perfetto_builder.c
		tests/support/protobuf_builder.c LIBS ZLIB::ZLIB)
endforeach()
flextrace_add_unit_test(NAME xplane_data SOURCES ${flex_fixture}
	DEFINITIONS FLEXTRACE_SHARED_DATA="${FLEXTRACE_SHARED_DATA}")
flextrace_add_unit_test(NAME device_log SOURCES tests/support/text_source.c ${flex_fixture})
flextrace_add_unit_test(NAME core_tables SOURCES tests/support/text_source.c ${flex_fixture})
flextrace_add_unit_test(NAME tt_data SOURCES ${flex_fixture} LIBS PkgConfig::CJSON
	DEFINITIONS FLEXTRACE_SHARED_DATA="${FLEXTRACE_SHARED_DATA}")

# Reports of Nsight Systems.
if(SQLITE_FOUND)
	set(nsys_fixture tests/support/nsys_fixture.c ${flex_fixture})
	flextrace_add_unit_test(NAME nsys SOURCES ${nsys_fixture} LIBS PkgConfig::SQLITE)
	flextrace_add_unit_test(NAME nsys_damage SOURCES ${nsys_fixture} LIBS PkgConfig::SQLITE)
	flextrace_add_unit_test(NAME nsys_ranks SOURCES ${nsys_fixture} LIBS PkgConfig::SQLITE)
	flextrace_add_unit_test(NAME nsys_worlds SOURCES ${nsys_fixture} LIBS PkgConfig::SQLITE m)
	flextrace_add_unit_test(NAME nsys_data SOURCES ${nsys_fixture} LIBS PkgConfig::SQLITE
		DEFINITIONS FLEXTRACE_SHARED_DATA="${FLEXTRACE_SHARED_DATA}")
endif()
flextrace_add_unit_test(NAME nsys_none SOURCES converter/formats/nsys/nsys_none.c ${flex_fixture})
