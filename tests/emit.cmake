# SPDX-License-Identifier: Apache-2.0
# Tests of converter/emit: each links only the sources it names.

set(emit_writer
	converter/emit/writer.c converter/emit/writer_text.c converter/error.c tests/scratch.c)
# What every emitter stands on, with the fixture in place of the stages before.
set(emit_base ${emit_writer}
	converter/emit/kinds.c converter/emit/pieces.c converter/emit/report_fields.c
	converter/emit/texts.c converter/emit/view.c
	converter/gather.c converter/ledger.c converter/losses.c converter/strings.c ${table_sources} tests/emit_fixture.c tests/timeline_fixture.c)
set(emit_chrome
	converter/emit/chrome.c converter/emit/chrome_ids.c converter/emit/chrome_later.c converter/emit/chrome_losses.c converter/emit/chrome_ranks.c converter/emit/chrome_meta.c
	converter/emit/chrome_rows.c converter/emit/chrome_shown.c converter/emit/chrome_texts.c)
set(emit_csv converter/emit/csv.c converter/emit/csv_reports.c
	converter/emit/csv_texts.c)
set(emit_libs PkgConfig::CJSON ZLIB::ZLIB Threads::Threads m)

flextrace_add_unit_test(NAME writer SOURCES ${emit_writer} LIBS ${emit_libs})
flextrace_add_unit_test(NAME writer_files SOURCES ${emit_writer} tests/full_disk.c LIBS ${emit_libs})
target_link_options(test_writer_files PRIVATE -Wl,--wrap=write)
flextrace_add_unit_test(NAME doubles SOURCES ${emit_writer} LIBS ${emit_libs})
flextrace_add_unit_test(NAME pieces SOURCES ${emit_writer} converter/emit/pieces.c LIBS ${emit_libs})
flextrace_add_unit_test(NAME trace_checker SOURCES tests/trace_checker.c LIBS ${emit_libs})
foreach(name chrome chrome_cases chrome_views)
	flextrace_add_unit_test(NAME ${name} SOURCES ${emit_base} ${emit_chrome}
		converter/emit/emit.c converter/emit/output_dir.c tests/chrome_fixture.c tests/trace_checker.c LIBS ${emit_libs})
endforeach()

# check_trace DIR/trace.json: for the end-to-end tests.
add_executable(check_trace ${CMAKE_CURRENT_LIST_DIR}/check_trace.c
	${CMAKE_CURRENT_LIST_DIR}/trace_checker.c)
target_link_libraries(check_trace PRIVATE flextrace_options PkgConfig::CJSON m)

# The promises of docs/formats.md, which check_csv holds every CSV file against.
set(formats_dir "FORMATS_DIR=\"${PROJECT_SOURCE_DIR}/docs\"")
flextrace_add_unit_test(NAME csv_checker SOURCES tests/csv_checker.c)
flextrace_add_unit_test(NAME csv SOURCES ${emit_base} ${emit_csv} tests/csv_checker.c
	LIBS ${emit_libs} DEFINITIONS ${formats_dir})

flextrace_add_unit_test(NAME formats_doc SOURCES converter/emit/kinds.c converter/ledger.c converter/losses.c
	tests/scratch.c DEFINITIONS ${formats_dir})

# check_csv DIR: for the end-to-end tests.
add_executable(check_csv ${CMAKE_CURRENT_LIST_DIR}/check_csv.c
	${CMAKE_CURRENT_LIST_DIR}/csv_checker.c ${CMAKE_CURRENT_LIST_DIR}/scratch.c)
target_compile_definitions(check_csv PRIVATE ${formats_dir})
target_link_libraries(check_csv PRIVATE flextrace_options)

# check_run DIR: likewise.
add_executable(check_run ${CMAKE_CURRENT_LIST_DIR}/check_run.c ${CMAKE_CURRENT_LIST_DIR}/scratch.c
	${PROJECT_SOURCE_DIR}/converter/csv_reader.c ${PROJECT_SOURCE_DIR}/converter/error.c)
target_include_directories(check_run PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/converter)
target_link_libraries(check_run PRIVATE flextrace_options PkgConfig::CJSON)

flextrace_add_unit_test(NAME text SOURCES ${emit_base} converter/emit/text.c LIBS ${emit_libs})
flextrace_add_unit_test(NAME run_json SOURCES ${emit_base} converter/emit/run_json.c
	LIBS ${emit_libs})
flextrace_add_unit_test(NAME emit SOURCES ${emit_base} ${emit_chrome} ${emit_csv}
	converter/emit/text.c converter/emit/run_json.c converter/emit/emit.c converter/emit/output_dir.c tests/full_disk.c LIBS ${emit_libs})
target_link_options(test_emit PRIVATE -Wl,--wrap=write)
