# SPDX-License-Identifier: Apache-2.0
# Tests of the converter's core, each with the sources that it needs.

flextrace_add_unit_test(NAME strings SOURCES converter/base/text/strings.c converter/base/error.c ${table_sources} LIBS Threads::Threads)
flextrace_add_unit_test(NAME intervals SOURCES converter/base/intervals/cover.c converter/base/intervals/sweep.c)
flextrace_add_unit_test(NAME blocks SOURCES converter/base/error.c ${table_sources} LIBS Threads::Threads)
flextrace_add_unit_test(NAME spill SOURCES converter/base/error.c ${table_sources} LIBS Threads::Threads)
flextrace_add_unit_test(NAME protobuf_reader SOURCES tests/support/protobuf_builder.c
	converter/base/protobuf/protobuf_reader.c)
flextrace_add_unit_test(NAME protobuf_writer SOURCES converter/base/protobuf/protobuf_reader.c converter/base/text/writer.c
	converter/base/text/writer_text.c converter/base/error.c LIBS ZLIB::ZLIB)
flextrace_add_unit_test(NAME table SOURCES converter/base/error.c ${table_sources} LIBS Threads::Threads)
flextrace_add_unit_test(NAME origins SOURCES converter/model/origins.c converter/base/error.c ${table_sources} LIBS Threads::Threads)
flextrace_add_unit_test(NAME inputs SOURCES converter/model/ledger/inputs.c LIBS flextrace_core)
flextrace_add_unit_test(NAME message_name SOURCES converter/model/words/message_name.c)
flextrace_add_unit_test(NAME ledger SOURCES converter/model/ledger/ledger.c converter/model/losses.c)
flextrace_add_unit_test(NAME emitted SOURCES converter/base/text/csv_reader.c converter/model/emitted/emitted.c converter/model/emitted/emitted_books.c converter/model/ledger/ledger.c converter/model/losses.c converter/base/error.c)
flextrace_add_unit_test(NAME format SOURCES converter/model/schema.c)
flextrace_add_unit_test(NAME schema SOURCES converter/model/schema.c converter/model/ledger/ledger.c converter/model/losses.c)
target_include_directories(test_schema BEFORE PRIVATE support/fake-lttng ${PROJECT_SOURCE_DIR}/tracer/src)

set(converter_text_source tests/support/text_source.c converter/engine/decode/decode.c converter/model/schema.c
	converter/base/error.c converter/engine/gather.c converter/model/ledger/ledger.c converter/model/losses.c converter/base/text/strings.c ${table_sources})
flextrace_add_unit_test(NAME decode SOURCES ${converter_text_source} LIBS Threads::Threads)
flextrace_add_unit_test(NAME args SOURCES tracer/src/args.c LIBS flextrace_core PkgConfig::CJSON)
flextrace_add_unit_test(NAME gather SOURCES ${converter_text_source} LIBS Threads::Threads)
flextrace_add_unit_test(NAME identity SOURCES ${converter_text_source} tests/support/identity_fixture.c
	converter/model/identity/definitions.c converter/model/identity/identity.c LIBS Threads::Threads)
flextrace_add_unit_test(NAME twins SOURCES ${converter_text_source} tests/support/identity_fixture.c
	converter/model/identity/definitions.c converter/model/identity/identity.c converter/engine/twins.c LIBS Threads::Threads)

# The whole pipeline: unit tests, then the golden cases, one test a case.
flextrace_add_unit_test(NAME pipeline
	SOURCES tests/support/text_source.c tests/support/scratch.c tests/support/failing_malloc.c LIBS flextrace_core)
flextrace_fail_allocations(test_pipeline)
flextrace_add_unit_test(NAME allocations
	SOURCES tests/support/text_source.c tests/support/scratch.c tests/support/failing_malloc.c LIBS flextrace_core
	DEFINITIONS FLEXTRACE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" $<$<BOOL:${SQLITE_FOUND}>:FLEXTRACE_SQLITE>
	$<$<BOOL:${MINIZIP_FOUND}>:FLEXTRACE_MINIZIP>)
flextrace_fail_allocations(test_allocations)
add_test(NAME soak.allocations COMMAND test_allocations all CONFIGURATIONS soak)
set_tests_properties(soak.allocations PROPERTIES LABELS soak TIMEOUT 3600)
flextrace_add_unit_test(NAME ops SOURCES tests/support/text_source.c tests/support/scratch.c cli/report/csv_table.c
	cli/terminal/message.c converter/pipeline.c)

add_executable(golden golden/golden.c support/text_source.c support/scratch.c)
target_include_directories(golden PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/support)
target_link_libraries(golden PRIVATE flextrace_options flextrace_core)
file(GLOB golden_inputs CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/golden/*/input.txt)
foreach(input ${golden_inputs})
	cmake_path(GET input PARENT_PATH case)
	cmake_path(GET case FILENAME name)
	add_test(NAME golden.${name} COMMAND golden ${case})
	set_tests_properties(golden.${name} PROPERTIES LABELS golden TIMEOUT 600)
endforeach()

flextrace_add_unit_test(NAME select SOURCES tests/support/text_source.c tests/support/scratch.c tests/support/failing_malloc.c
	tests/support/trace_checker.c LIBS flextrace_core)
flextrace_fail_allocations(test_select)
