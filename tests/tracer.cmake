# SPDX-License-Identifier: Apache-2.0
# The tracer: its library against a provider made of a list, its headers against many compilers, the
# real provider against a real session daemon.
flextrace_add_unit_test(NAME tracer
	SOURCES tracer/src/tracer.c tracer/src/definitions.c tracer/src/process.c
	INCLUDES tracer/src)
flextrace_add_unit_test(NAME tracer_threads
	SOURCES tracer/src/tracer.c tracer/src/definitions.c tracer/src/process.c
	INCLUDES tracer/src LIBS Threads::Threads)
flextrace_add_unit_test(NAME environment
	SOURCES tracer/src/environment.c
	INCLUDES tracer/src)
flextrace_add_unit_test(NAME recording
	SOURCES tracer/src/provider/recording.c
	INCLUDES tracer/src)

add_test(NAME headers.tracer
	COMMAND ${PROJECT_SOURCE_DIR}/tests/headers/compile_matrix.sh ${PROJECT_SOURCE_DIR})
set_tests_properties(headers.tracer PROPERTIES LABELS headers SKIP_RETURN_CODE 77)

foreach(way plain foreign installed)
	add_test(NAME tracer.${way} COMMAND ${PROJECT_SOURCE_DIR}/tests/private.sh
		${PROJECT_SOURCE_DIR}/tests/tracer/alone.sh ${way} ${PROJECT_SOURCE_DIR})
	set_tests_properties(tracer.${way} PROPERTIES LABELS tracer SKIP_RETURN_CODE 77 TIMEOUT 600)
endforeach()

add_test(NAME tracer.secure COMMAND ${PROJECT_SOURCE_DIR}/tests/private.sh
	${PROJECT_SOURCE_DIR}/tests/tracer/secure.sh ${PROJECT_SOURCE_DIR})
set_tests_properties(tracer.secure PROPERTIES LABELS tracer SKIP_RETURN_CODE 77 TIMEOUT 600)

if(TARGET flextrace_lttng)
	add_executable(every_macro headers/every_macro.c)
	add_executable(tracer_scenario tracer/scenario.c)
	add_library(tracer_plugin MODULE tracer/plugin.c)
	foreach(target every_macro tracer_scenario tracer_plugin)
		target_link_libraries(${target} PRIVATE flextrace_options flextrace_tracer)
	endforeach()
	add_test(NAME tracer.provider COMMAND ${PROJECT_SOURCE_DIR}/tests/private.sh
		${PROJECT_SOURCE_DIR}/tests/tracer/provider.sh $<TARGET_FILE:flextrace_lttng>
		$<TARGET_FILE:every_macro> $<TARGET_FILE:tracer_scenario>
		$<TARGET_FILE:tracer_plugin> ${PROJECT_SOURCE_DIR}/tracer/share/flextrace.lttng)
	set_tests_properties(tracer.provider PROPERTIES LABELS lttng SKIP_RETURN_CODE 77 TIMEOUT 600
		RESOURCE_LOCK lttng ENVIRONMENT "FLEXTRACE_TEST_SANITIZED=$<BOOL:${FLEXTRACE_SANITIZE}>")
endif()
