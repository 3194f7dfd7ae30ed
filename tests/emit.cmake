# SPDX-License-Identifier: Apache-2.0
# Tests of converter/emit: each links only the sources it names.

set(emit_writer
	converter/base/text/writer.c converter/base/text/writer_text.c converter/base/error.c tests/support/scratch.c)
set(emit_libs PkgConfig::CJSON ZLIB::ZLIB Threads::Threads m)
set(emit_archive converter/output/archive/archive_none.c)
if(MINIZIP_FOUND)
	set(emit_archive converter/output/archive/archive.c)
	list(APPEND emit_libs PkgConfig::MINIZIP)
endif()
# What every emitter stands on, with the fixture in place of the stages before.
set(emit_base ${emit_writer}
	converter/model/timeline/clock_columns.c converter/output/column_json.c converter/output/column_text.c
	converter/output/fragments.c converter/output/view.c
	${emit_archive} converter/base/text/text_list.c converter/engine/gather.c converter/model/ledger/ledger.c converter/model/losses.c converter/base/text/strings.c ${table_sources} tests/support/emit_fixture.c tests/support/timeline_fixture.c)
set(emit_chrome
	converter/output/chrome/chrome.c converter/output/chrome/chrome_event.c converter/output/chrome/chrome_meta.c converter/output/chrome/chrome_ranks.c converter/output/chrome/chrome_sites.c converter/output/chrome/chrome_size.c
	converter/output/events/event_device.c converter/output/events/event_hta.c converter/output/events/event_later.c converter/output/events/event_losses.c converter/output/events/event_ranks.c converter/output/events/event_rows.c
	converter/output/events/event_shown.c converter/output/events/event_told.c converter/output/events/events.c converter/output/events/line_ids.c converter/output/events/lines.c)
set(emit_csv converter/output/csv/csv.c converter/output/csv/csv_reports.c converter/output/csv/csv_rows.c
	converter/output/csv/csv_fragments.c)
set(emit_emit converter/output/emit.c converter/output/manifest.c converter/output/members.c)

flextrace_add_unit_test(NAME writer SOURCES ${emit_writer} LIBS ${emit_libs})
flextrace_add_unit_test(NAME writer_files SOURCES ${emit_writer} tests/support/full_disk.c LIBS ${emit_libs})
target_link_options(test_writer_files PRIVATE -Wl,--wrap=write)
if(MINIZIP_FOUND)
	flextrace_add_unit_test(NAME archive SOURCES ${emit_writer} ${emit_archive} converter/base/paths.c
		tests/support/full_disk.c LIBS ${emit_libs})
	target_link_options(test_archive PRIVATE -Wl,--wrap=write)
endif()
flextrace_add_unit_test(NAME column_text SOURCES ${emit_writer} converter/output/column_json.c converter/output/column_text.c LIBS ${emit_libs})
flextrace_add_unit_test(NAME doubles SOURCES ${emit_writer} LIBS ${emit_libs})
flextrace_add_unit_test(NAME trace_checker SOURCES tests/support/trace_checker.c LIBS ${emit_libs})
foreach(name chrome chrome_cases chrome_hta chrome_views)
	flextrace_add_unit_test(NAME ${name} SOURCES ${emit_base} ${emit_chrome}
		${emit_emit} converter/output/report_data.c converter/output/report/page.c converter/output/output_dir.c tests/support/chrome_fixture.c tests/support/trace_checker.c LIBS ${emit_libs})
endforeach()

flextrace_add_unit_test(NAME pftrace SOURCES ${emit_base} LIBS ${emit_libs})

# check_trace DIR/trace.json: for the end-to-end tests.
add_executable(check_trace ${PROJECT_SOURCE_DIR}/tests/support/check_trace.c
	${PROJECT_SOURCE_DIR}/tests/support/trace_checker.c)
target_link_libraries(check_trace PRIVATE flextrace_options PkgConfig::CJSON m)

# The promises of docs/formats.md, which check_csv holds every CSV file against.
set(formats_dir "FORMATS_DIR=\"${PROJECT_SOURCE_DIR}/docs\"")
flextrace_add_unit_test(NAME csv_checker SOURCES tests/support/csv_checker.c)
flextrace_add_unit_test(NAME csv SOURCES ${emit_base} ${emit_csv} tests/support/csv_checker.c
	LIBS ${emit_libs} DEFINITIONS ${formats_dir})

flextrace_add_unit_test(NAME formats_doc SOURCES converter/model/words/kinds.c converter/model/ledger/ledger.c converter/model/losses.c
	tests/support/scratch.c DEFINITIONS ${formats_dir})

flextrace_add_unit_test(NAME formats_tables SOURCES tests/support/scratch.c LIBS flextrace_core DEFINITIONS ${formats_dir})

# check_csv DIR: for the end-to-end tests.
add_executable(check_csv ${PROJECT_SOURCE_DIR}/tests/support/check_csv.c
	${PROJECT_SOURCE_DIR}/tests/support/csv_checker.c ${PROJECT_SOURCE_DIR}/tests/support/scratch.c)
target_compile_definitions(check_csv PRIVATE ${formats_dir})
target_link_libraries(check_csv PRIVATE flextrace_options)

# check_run DIR: likewise.
add_executable(check_run ${PROJECT_SOURCE_DIR}/tests/support/check_run.c ${PROJECT_SOURCE_DIR}/tests/support/scratch.c
	${PROJECT_SOURCE_DIR}/converter/base/text/csv_reader.c ${PROJECT_SOURCE_DIR}/converter/base/error.c ${PROJECT_SOURCE_DIR}/converter/base/paths.c)
target_include_directories(check_run PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/converter)
target_link_libraries(check_run PRIVATE flextrace_options PkgConfig::CJSON)

flextrace_add_unit_test(NAME text SOURCES ${emit_base} converter/output/text/text.c LIBS ${emit_libs})
flextrace_add_unit_test(NAME run_json SOURCES ${emit_base} converter/output/run_json.c
	LIBS ${emit_libs})
flextrace_add_unit_test(NAME emit SOURCES ${emit_base} ${emit_chrome} ${emit_csv}
	converter/output/text/text.c converter/output/run_json.c ${emit_emit} converter/output/report_data.c converter/output/report/page.c converter/output/output_dir.c tests/support/full_disk.c LIBS ${emit_libs})
target_link_options(test_emit PRIVATE -Wl,--wrap=write)
flextrace_add_unit_test(NAME report_page SOURCES converter/output/report/page.c LIBS ${emit_libs})
