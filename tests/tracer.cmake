# SPDX-License-Identifier: Apache-2.0
# The tracer: its library against a provider made of a list, its headers against many compilers, the
# real provider against a real session daemon.
flextrace_add_unit_test(NAME tracer
	SOURCES tracer/src/tracer.c tracer/src/definitions.c tracer/src/process.c
	INCLUDES tracer/src)
flextrace_add_unit_test(NAME tracer_threads
	SOURCES tracer/src/tracer.c tracer/src/definitions.c tracer/src/process.c
	INCLUDES tracer/src LIBS Threads::Threads)
flextrace_add_unit_test(NAME check
	SOURCES tracer/src/check.c
	DEFINITIONS FLEXTRACE_CHECK=1)
flextrace_add_unit_test(NAME definitions
	SOURCES tracer/src/definitions.c
	INCLUDES tracer/src LIBS Threads::Threads)
target_link_options(test_definitions PRIVATE -Wl,--wrap=calloc,--wrap=free)
flextrace_add_unit_test(NAME environment
	SOURCES tracer/src/environment.c
	INCLUDES tracer/src)
flextrace_add_unit_test(NAME recording
	SOURCES tracer/src/provider/recording.c
	INCLUDES tracer/src)
flextrace_add_unit_test(NAME wanted
	SOURCES tracer/src/wanted.c
	INCLUDES tracer/src)
flextrace_add_unit_test(NAME emit_counts
	SOURCES tracer/src/provider/emit_counts.c
	INCLUDES tracer/src LIBS Threads::Threads)
flextrace_add_unit_test(NAME mpi_numbering SOURCES tracer/mpi/numbering.c tracer/mpi/table.c)
flextrace_add_unit_test(NAME mpi_identity SOURCES tracer/mpi/identity.c tracer/mpi/table.c)

if(FLEXTRACE_CXX)
	foreach(standard 17 20)
		add_executable(test_hpp_${standard} unit/tracer/test_hpp.cc ${PROJECT_SOURCE_DIR}/tracer/src/args.c)
		target_include_directories(test_hpp_${standard} PRIVATE ${PROJECT_SOURCE_DIR}/tracer/include)
		target_link_libraries(test_hpp_${standard} PRIVATE flextrace_options PkgConfig::CMOCKA Threads::Threads)
		set_target_properties(test_hpp_${standard} PROPERTIES CXX_STANDARD ${standard})
		add_test(NAME unit.hpp_${standard} COMMAND test_hpp_${standard})
		set_tests_properties(unit.hpp_${standard} PROPERTIES LABELS unit TIMEOUT 600)
	endforeach()
endif()

add_test(NAME headers.tracer
	COMMAND ${PROJECT_SOURCE_DIR}/tests/headers/compile_matrix.sh ${PROJECT_SOURCE_DIR})
add_test(NAME headers.markers
	COMMAND ${PROJECT_SOURCE_DIR}/tests/headers/markers.sh ${PROJECT_SOURCE_DIR})
set_tests_properties(headers.tracer headers.markers PROPERTIES LABELS headers SKIP_RETURN_CODE 77)

foreach(way plain foreign markers installed)
	add_test(NAME tracer.${way} COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/private.sh
		${PROJECT_SOURCE_DIR}/tests/tracer/alone.sh ${way} ${PROJECT_SOURCE_DIR})
	set_tests_properties(tracer.${way} PROPERTIES LABELS tracer SKIP_RETURN_CODE 77 TIMEOUT 600)
endforeach()

add_test(NAME tracer.secure COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/private.sh
	${PROJECT_SOURCE_DIR}/tests/tracer/secure.sh ${PROJECT_SOURCE_DIR})
set_tests_properties(tracer.secure PROPERTIES LABELS tracer SKIP_RETURN_CODE 77 TIMEOUT 600)

if(TARGET flextrace_lttng)
	add_executable(every_macro headers/every_macro.c)
	add_executable(tracer_scenario tracer/scenario.c)
	add_library(tracer_plugin MODULE tracer/plugin.c)
	foreach(target every_macro tracer_scenario tracer_plugin)
		target_link_libraries(${target} PRIVATE flextrace_options flextrace_tracer)
	endforeach()
	add_test(NAME tracer.provider COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/private.sh
		${PROJECT_SOURCE_DIR}/tests/tracer/provider.sh $<TARGET_FILE:flextrace_lttng>
		$<TARGET_FILE:every_macro> $<TARGET_FILE:tracer_scenario>
		$<TARGET_FILE:tracer_plugin> ${PROJECT_SOURCE_DIR}/tracer/share/flextrace.lttng)
	set_tests_properties(tracer.provider PROPERTIES LABELS lttng SKIP_RETURN_CODE 77 TIMEOUT 600
		RESOURCE_LOCK lttng ENVIRONMENT "FLEXTRACE_TEST_SANITIZED=$<BOOL:${FLEXTRACE_SANITIZE}>")

	add_test(NAME tracer.versions COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/private.sh
		${PROJECT_SOURCE_DIR}/tests/tracer/versions.sh ${PROJECT_SOURCE_DIR})
	set_tests_properties(tracer.versions PROPERTIES LABELS lttng SKIP_RETURN_CODE 77 TIMEOUT 600 RESOURCE_LOCK lttng)

	# A guest in somebody's process: forks, descriptors, signal handlers.
	find_package(Threads REQUIRED)
	foreach(name closes ends handlers)
		add_executable(tracer_${name} tracer/${name}.c)
		target_link_libraries(tracer_${name} PRIVATE flextrace_options flextrace_tracer Threads::Threads)
	endforeach()

	# A sanitizer's allocator does not take its locks over a fork: children of a process with threads would hang
	# in it. So all that forks is compiled without one.
	function(flextrace_add_plain plain of type)
		get_target_property(sources ${of} SOURCES)
		get_target_property(dir ${of} SOURCE_DIR)
		list(TRANSFORM sources PREPEND "${dir}/")
		add_library(${plain} ${type} ${sources})
		set_target_properties(${plain} PROPERTIES C_STANDARD 11 C_EXTENSIONS ON C_VISIBILITY_PRESET hidden
			POSITION_INDEPENDENT_CODE ON)
		target_include_directories(${plain} SYSTEM PRIVATE $<TARGET_PROPERTY:${of},INCLUDE_DIRECTORIES>)
		target_compile_definitions(${plain} PRIVATE $<TARGET_PROPERTY:${of},COMPILE_DEFINITIONS>)
	endfunction()
	flextrace_add_plain(tracer_plain flextrace_tracer STATIC)
	target_include_directories(tracer_plain PUBLIC ${PROJECT_SOURCE_DIR}/tracer/include)
	target_link_libraries(tracer_plain PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
	flextrace_add_plain(tracer_plain_lttng flextrace_lttng MODULE)
	target_link_libraries(tracer_plain_lttng PRIVATE ${FLEXTRACE_LTTNG_UST} ${FLEXTRACE_LTTNG_UST_COMMON}
		${FLEXTRACE_LTTNG_UST_TRACEPOINT} Threads::Threads ${CMAKE_DL_LIBS})
	add_executable(tracer_forks tracer/forks.c)
	target_link_libraries(tracer_forks PRIVATE tracer_plain)
	add_library(tracer_needed SHARED tracer/needy.c)
	target_compile_definitions(tracer_needed PRIVATE IS_NEEDED)
	set_target_properties(tracer_needed PROPERTIES C_VISIBILITY_PRESET default)
	add_library(tracer_needy MODULE tracer/needy.c)
	target_link_libraries(tracer_needy PRIVATE tracer_needed)
	set_target_properties(tracer_needy PROPERTIES BUILD_RPATH_USE_ORIGIN ON BUILD_RPATH "$ORIGIN")

	# flextrace_add_guest_test(NAME PROVIDER N_SOAK ARGUMENT...): below private.sh, and the long version.
	function(flextrace_add_guest_test name provider n_soak)
		set(command ${PROJECT_SOURCE_DIR}/tests/scripts/private.sh ${PROJECT_SOURCE_DIR}/tests/tracer/${name}.sh
			$<TARGET_FILE:${provider}> $<TARGET_FILE:tracer_${name}> ${ARGN})
		add_test(NAME tracer.${name} COMMAND ${command})
		add_test(NAME soak.${name} CONFIGURATIONS soak COMMAND ${command} ${n_soak})
		set_tests_properties(tracer.${name} PROPERTIES LABELS lttng TIMEOUT 600)
		set_tests_properties(soak.${name} PROPERTIES LABELS soak TIMEOUT 3600)
		set_tests_properties(tracer.${name} soak.${name} PROPERTIES SKIP_RETURN_CODE 77 RESOURCE_LOCK lttng
			ENVIRONMENT "FLEXTRACE_TEST_SANITIZED=$<BOOL:${FLEXTRACE_SANITIZE}>")
	endfunction()
	flextrace_add_guest_test(forks tracer_plain_lttng 5000 $<TARGET_FILE:tracer_needy> $<TARGET_FILE:tracer_needed>)
	flextrace_add_guest_test(closes flextrace_lttng 100)
	flextrace_add_guest_test(ends flextrace_lttng 100)
	flextrace_add_guest_test(handlers flextrace_lttng 100 ${PROJECT_SOURCE_DIR})

	add_executable(tracer_confined tracer/confined.c)
	target_link_libraries(tracer_confined PRIVATE tracer_plain)
	target_compile_options(tracer_confined PRIVATE -fexceptions)
	add_test(NAME tracer.confined COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/private.sh
		${PROJECT_SOURCE_DIR}/tests/tracer/confined.sh $<TARGET_FILE:tracer_plain_lttng> $<TARGET_FILE:tracer_confined>)
	set_tests_properties(tracer.confined PROPERTIES LABELS lttng TIMEOUT 600 SKIP_RETURN_CODE 77 RESOURCE_LOCK lttng)

	add_library(tracer_constructed SHARED tracer/constructors.c)
	target_compile_definitions(tracer_constructed PRIVATE IS_LIBRARY)
	target_link_options(tracer_constructed PRIVATE -Wl,-z,undefs) # the program has it
	add_executable(tracer_constructors tracer/constructors.c)
	target_link_libraries(tracer_constructors PRIVATE tracer_constructed)
	foreach(target tracer_constructed tracer_constructors)
		target_link_libraries(${target} PRIVATE flextrace_options flextrace_tracer)
	endforeach()
	add_executable(tracer_host tracer/host.c)
	target_link_libraries(tracer_host PRIVATE flextrace_options Threads::Threads ${CMAKE_DL_LIBS})
	add_test(NAME tracer.start COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/private.sh ${PROJECT_SOURCE_DIR}/tests/tracer/start.sh
		$<TARGET_FILE:flextrace_lttng> $<TARGET_FILE:tracer_constructors>
		$<TARGET_FILE:tracer_host> $<TARGET_FILE:tracer_plugin> ${PROJECT_SOURCE_DIR})
	set_tests_properties(tracer.start PROPERTIES LABELS lttng SKIP_RETURN_CODE 77 TIMEOUT 600 RESOURCE_LOCK lttng)
endif()
