# SPDX-License-Identifier: Apache-2.0
# Options, the reading of traces and the plug-in.
flextrace_add_unit_test(NAME options SOURCES converter/options.c converter/conversion_texts.c LIBS flextrace_core)
flextrace_add_unit_test(NAME profile SOURCES converter/profile.c converter/options.c converter/base/text/sizes.c
	tests/support/scratch.c LIBS flextrace_core)
flextrace_add_unit_test(NAME ctf_overwritten SOURCES tests/support/scratch.c
	converter/formats/ctf/ctf_overwritten.c converter/base/error.c)
flextrace_add_unit_test(NAME ctf_repair SOURCES tests/support/scratch.c tests/support/ctf_writer.c
	converter/formats/ctf/ctf_repair.c converter/base/error.c converter/model/schema.c)
foreach(name reader reader_damage ctf_damage)
	flextrace_add_unit_test(NAME ${name} SOURCES tests/support/scratch.c tests/support/ctf_writer.c
		tests/support/event_samples.c tests/support/reading.c LIBS flextrace_bt2)
endforeach()
set_tests_properties(unit.ctf_damage PROPERTIES TIMEOUT 600)
# Every byte of each file: ctest -C soak -L soak
add_test(NAME soak.ctf_damage CONFIGURATIONS soak COMMAND test_ctf_damage all)
set_tests_properties(soak.ctf_damage PROPERTIES LABELS soak TIMEOUT 7200)
flextrace_add_unit_test(NAME bt2_sink SOURCES tests/support/scratch.c tests/support/ctf_writer.c
	converter/model/schema.c LIBS PkgConfig::BABELTRACE2
	DEFINITIONS PLUGIN="$<TARGET_FILE:flextrace_bt2_plugin>")
add_dependencies(test_bt2_sink flextrace_bt2_plugin)
flextrace_add_unit_test(NAME bt2_source SOURCES tests/support/scratch.c LIBS PkgConfig::BABELTRACE2
	DEFINITIONS PLUGIN="$<TARGET_FILE:flextrace_bt2_plugin>")
add_dependencies(test_bt2_source flextrace_bt2_plugin)
# A plug-in that is unloaded takes its names out of the sanitizers' reports.
set_tests_properties(unit.bt2_sink unit.bt2_source PROPERTIES ENVIRONMENT LIBBABELTRACE2_NO_DLCLOSE=1)

# What tests/oracle/run makes traces of the golden cases with.
add_executable(oracle_trace oracle/oracle_trace.c support/ctf_text.c support/ctf_writer.c support/text_source.c)
target_include_directories(oracle_trace PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/support)
target_link_libraries(oracle_trace PRIVATE flextrace_core)

if(TARGET flextrace)
	add_executable(make_trace ${PROJECT_SOURCE_DIR}/tests/support/make_trace.c
		${PROJECT_SOURCE_DIR}/tests/support/ctf_writer.c
		${PROJECT_SOURCE_DIR}/converter/model/schema.c)
	target_include_directories(make_trace PRIVATE ${PROJECT_SOURCE_DIR}/converter
		${PROJECT_SOURCE_DIR}/tests/support ${PROJECT_SOURCE_DIR}/tracer/include)
	target_link_libraries(make_trace PRIVATE flextrace_options)
	add_test(NAME cli.errors COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/cli_errors.sh
		$<TARGET_FILE:flextrace> $<TARGET_FILE:make_trace>)
	add_test(NAME cli.hostile COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/cli_hostile.sh
		$<TARGET_FILE:flextrace> $<TARGET_FILE_DIR:check_csv>)
	add_test(NAME cli.readers COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/cli_readers.sh
		$<TARGET_FILE:flextrace> $<TARGET_FILE:make_trace> $<TARGET_FILE:flextrace_bt2_plugin>)
	add_test(NAME cli.sources COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/cli_sources.sh
		$<TARGET_FILE:flextrace> $<TARGET_FILE:flextrace_bt2_plugin> ${FLEXTRACE_SHARED_DATA})
	add_test(NAME cli.again COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/check_again.py
		$<TARGET_FILE:flextrace> $<TARGET_FILE:oracle_trace>
		"$<$<TARGET_EXISTS:load_make_ranks>:$<TARGET_FILE:load_make_ranks>>" ${FLEXTRACE_SHARED_DATA})
	set_tests_properties(cli.again PROPERTIES TIMEOUT 600)
	add_test(NAME cli.known_values COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/known_values.py
		$<TARGET_FILE:flextrace> ${FLEXTRACE_SHARED_DATA})
	set_tests_properties(cli.known_values PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)
	add_test(NAME cli.answers COMMAND ${PROJECT_SOURCE_DIR}/tests/answers/answers.py $<TARGET_FILE:flextrace> 8)
	add_executable(make_areas support/make_areas.c)
	target_link_libraries(make_areas PRIVATE flextrace_options flextrace_markers)
	add_test(NAME cli.decode COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/cli_decode.sh
		$<TARGET_FILE:flextrace> $<TARGET_FILE:flextrace_bt2_plugin> $<TARGET_FILE:make_areas>)
	add_test(NAME cli.compiler COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/cli_compiler.sh
		$<TARGET_FILE:flextrace> $<TARGET_FILE_DIR:check_csv> ${FLEXTRACE_SHARED_DATA})
	add_test(NAME cli.diff COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/cli_diff.sh $<TARGET_FILE:flextrace>)
	add_test(NAME cli.views COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/cli_views.sh
		$<TARGET_FILE:flextrace> $<TARGET_FILE_DIR:check_csv>)
	add_test(NAME cli.archive COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/cli_archive.sh
		$<TARGET_FILE:flextrace> $<TARGET_FILE:make_trace> $<TARGET_FILE:flextrace_bt2_plugin>)
	add_test(NAME cli.pairs COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/cli_pairs.sh
		$<TARGET_FILE:flextrace> $<TARGET_FILE_DIR:check_csv>)
	add_test(NAME style.man COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/man_options.sh
		$<TARGET_FILE:flextrace> ${PROJECT_BINARY_DIR}/docs/man ${PROJECT_SOURCE_DIR}/cli/completion.bash)
	set_tests_properties(style.man PROPERTIES LABELS style)
	set_tests_properties(cli.errors cli.hostile cli.decode cli.readers cli.sources cli.compiler cli.diff cli.views cli.archive cli.pairs PROPERTIES LABELS cli TIMEOUT 600
		SKIP_RETURN_CODE 77)
endif()
