# SPDX-License-Identifier: Apache-2.0
# Tests of the converter's core, each with the sources that it needs.

flextrace_add_unit_test(NAME strings SOURCES converter/strings.c converter/error.c ${table_sources} LIBS Threads::Threads)
flextrace_add_unit_test(NAME blocks SOURCES converter/error.c ${table_sources} LIBS Threads::Threads)
flextrace_add_unit_test(NAME spill SOURCES converter/error.c ${table_sources} LIBS Threads::Threads)
flextrace_add_unit_test(NAME table SOURCES converter/error.c ${table_sources} LIBS Threads::Threads)
flextrace_add_unit_test(NAME origins SOURCES converter/origins.c converter/error.c ${table_sources} LIBS Threads::Threads)
flextrace_add_unit_test(NAME inputs SOURCES converter/inputs.c LIBS flextrace_core)
flextrace_add_unit_test(NAME message_name SOURCES converter/message_name.c)
flextrace_add_unit_test(NAME ledger SOURCES converter/ledger.c converter/losses.c)
flextrace_add_unit_test(NAME emitted SOURCES converter/csv_reader.c converter/emitted.c converter/emitted_books.c converter/ledger.c converter/losses.c converter/error.c)
flextrace_add_unit_test(NAME schema SOURCES converter/decode/schema.c converter/ledger.c converter/losses.c)

set(converter_text_source tests/text_source.c converter/decode/decode.c converter/decode/schema.c
	converter/error.c converter/gather.c converter/ledger.c converter/losses.c converter/strings.c ${table_sources})
flextrace_add_unit_test(NAME decode SOURCES ${converter_text_source} LIBS Threads::Threads)
flextrace_add_unit_test(NAME gather SOURCES ${converter_text_source} LIBS Threads::Threads)
flextrace_add_unit_test(NAME identity SOURCES ${converter_text_source} tests/identity_fixture.c
	converter/definitions.c converter/identity.c LIBS Threads::Threads)
flextrace_add_unit_test(NAME twins SOURCES ${converter_text_source} tests/identity_fixture.c
	converter/definitions.c converter/identity.c converter/twins.c LIBS Threads::Threads)

# The whole pipeline: unit tests, then the golden cases, one test a case.
flextrace_add_unit_test(NAME pipeline
	SOURCES tests/text_source.c tests/scratch.c tests/failing_malloc.c LIBS flextrace_core)
flextrace_fail_allocations(test_pipeline)
flextrace_add_unit_test(NAME allocations
	SOURCES tests/text_source.c tests/scratch.c tests/failing_malloc.c LIBS flextrace_core
	DEFINITIONS FLEXTRACE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
flextrace_fail_allocations(test_allocations)
add_test(NAME soak.allocations COMMAND test_allocations all CONFIGURATIONS soak)
set_tests_properties(soak.allocations PROPERTIES LABELS soak TIMEOUT 3600)
flextrace_add_unit_test(NAME ops SOURCES tests/text_source.c tests/scratch.c cli/csv_table.c
	cli/message.c converter/pipeline.c)

add_executable(golden golden/golden.c text_source.c scratch.c)
target_include_directories(golden PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(golden PRIVATE flextrace_options flextrace_core)
file(GLOB golden_inputs CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/golden/*/input.txt)
foreach(input ${golden_inputs})
	cmake_path(GET input PARENT_PATH case)
	cmake_path(GET case FILENAME name)
	add_test(NAME golden.${name} COMMAND golden ${case})
	set_tests_properties(golden.${name} PROPERTIES LABELS golden TIMEOUT 600)
endforeach()

flextrace_add_unit_test(NAME select SOURCES tests/text_source.c tests/scratch.c tests/failing_malloc.c
	tests/trace_checker.c LIBS flextrace_core)
flextrace_fail_allocations(test_select)
