# SPDX-License-Identifier: Apache-2.0
# Tools that look for what tests of behaviour do not see. The rest of them has presets: CONTRIBUTING.md.

# -- sanitizers: they are on, and find what they are there for ---------------------------------------
if(FLEXTRACE_SANITIZE)
	add_executable(defects checks/defects.c)
	target_link_libraries(defects PRIVATE flextrace_options Threads::Threads)
	add_executable(defects_threads checks/defects.c)
	target_link_libraries(defects_threads PRIVATE flextrace_language Threads::Threads)
	target_compile_options(defects_threads PRIVATE -fsanitize=thread)
	target_link_options(defects_threads PRIVATE -fsanitize=thread)
	add_test(NAME checks.sanitizers COMMAND ${CMAKE_CURRENT_LIST_DIR}/checks/sanitizers.sh
		$<TARGET_FILE:defects> ${CMAKE_CURRENT_LIST_DIR}/checks/threads.sh $<TARGET_FILE:defects_threads>)
	set_tests_properties(checks.sanitizers PROPERTIES LABELS checks SKIP_RETURN_CODE 77 TIMEOUT 600)

	# What threads share: the tracer, the drain and the emulator by ThreadSanitizer, which excludes the others.
	# flextrace_add_thread_test(NAME SOURCES... [ARGUMENTS...]): tests/test_<NAME>.c once more.
	function(flextrace_add_thread_test name)
		cmake_parse_arguments(arg "" "" "SOURCES;ARGUMENTS" ${ARGN})
		list(TRANSFORM arg_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/)
		file(GLOB_RECURSE source ${PROJECT_SOURCE_DIR}/tests/unit/test_${name}.c)
		add_executable(threads_${name} ${source} ${arg_SOURCES})
		target_include_directories(threads_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support
			${PROJECT_SOURCE_DIR}/tracer/include ${PROJECT_SOURCE_DIR}/tracer/src
			${PROJECT_SOURCE_DIR}/firmware-markers/include
			${PROJECT_SOURCE_DIR}/firmware-markers/ports/posix/include
			${PROJECT_SOURCE_DIR}/firmware-markers/emulator
			${PROJECT_SOURCE_DIR}/firmware-markers/emulator/include
			${PROJECT_SOURCE_DIR}/firmware-markers/firmware)
		# It does not know fences. Nothing but atomic words is behind them.
		target_compile_options(threads_${name} PRIVATE -fsanitize=thread -O1
			$<$<C_COMPILER_ID:GNU>:-Wno-tsan>)
		target_link_options(threads_${name} PRIVATE -fsanitize=thread)
		target_link_libraries(threads_${name} PRIVATE flextrace_language PkgConfig::CMOCKA
			Threads::Threads ${CMAKE_DL_LIBS})
		add_test(NAME threads.${name} COMMAND ${PROJECT_SOURCE_DIR}/tests/checks/threads.sh
			$<TARGET_FILE:threads_${name}> ${arg_ARGUMENTS})
		set_tests_properties(threads.${name} PROPERTIES LABELS checks SKIP_RETURN_CODE 77 TIMEOUT 600)
	endfunction()

	set(emulator firmware-markers/emulator/emulator.c firmware-markers/emulator/config.c firmware-markers/emulator/counter.c
		firmware-markers/emulator/truth.c firmware-markers/firmware/firmware.c)
	flextrace_add_thread_test(tracer SOURCES tracer/src/tracer.c tracer/src/definitions.c tracer/src/process.c)
	flextrace_add_thread_test(definitions SOURCES tracer/src/definitions.c)
	target_link_options(threads_definitions PRIVATE -Wl,--wrap=calloc,--wrap=free)
	flextrace_add_thread_test(tracer_threads
		SOURCES tracer/src/tracer.c tracer/src/definitions.c tracer/src/process.c)
	flextrace_add_thread_test(drain_runs SOURCES ${drain} ${markers})
	flextrace_add_thread_test(emulator SOURCES ${drain} ${markers} ${emulator})
	flextrace_add_thread_test(emulator_clocks SOURCES ${markers} ${emulator})
	flextrace_add_thread_test(drain_soak SOURCES ${drain} ${markers} ${emulator} ARGUMENTS 20000)
endif()

# -- valgrind: the plug-in where its host and what it allocates are not the sanitizers' -----------------
if(TARGET make_trace)
	add_test(NAME checks.plugin COMMAND ${CMAKE_CURRENT_LIST_DIR}/checks/plugin.sh
		${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/plain $<TARGET_FILE:make_trace>)
	set_tests_properties(checks.plugin PROPERTIES LABELS checks SKIP_RETURN_CODE 77 TIMEOUT 600)
endif()

# -- the other order of bytes --------------------------------------------------------------------------
if(NOT CMAKE_CROSSCOMPILING)
	add_test(NAME checks.s390x COMMAND ${CMAKE_CURRENT_LIST_DIR}/checks/s390x.sh
		${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/s390x)
	set_tests_properties(checks.s390x PROPERTIES LABELS checks SKIP_RETURN_CODE 77 TIMEOUT 900)
endif()

# -- borders between rooms -----------------------------------------------------------------------------
add_test(NAME checks.borders COMMAND ${CMAKE_CURRENT_LIST_DIR}/checks/borders.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
set_tests_properties(checks.borders PROPERTIES LABELS checks SKIP_RETURN_CODE 77)

# -- how to begin: a new table, format and stage ---------------------------------------------------------
if(TARGET flextrace AND NOT CMAKE_CROSSCOMPILING)
	add_test(NAME checks.examples COMMAND ${CMAKE_CURRENT_LIST_DIR}/checks/examples.sh ${PROJECT_SOURCE_DIR} ${CMAKE_C_COMPILER})
	set_tests_properties(checks.examples PROPERTIES LABELS checks SKIP_RETURN_CODE 77 TIMEOUT 600)
endif()

# -- analysis ----------------------------------------------------------------------------------------
add_test(NAME checks.cppcheck COMMAND ${CMAKE_CURRENT_LIST_DIR}/checks/cppcheck.sh
	${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/cppcheck)
set_tests_properties(checks.cppcheck PROPERTIES LABELS checks SKIP_RETURN_CODE 77 TIMEOUT 600)

# All files by preset `tidy` and ctest -C soak; here those that run in somebody else's program.
set(tidy ${CMAKE_CURRENT_LIST_DIR}/checks/tidy.sh ${PROJECT_BINARY_DIR})
add_test(NAME checks.tidy COMMAND ${tidy} tracer)
add_test(NAME soak.tidy CONFIGURATIONS soak COMMAND ${tidy})
set_tests_properties(checks.tidy PROPERTIES LABELS checks SKIP_RETURN_CODE 77 TIMEOUT 600)
set_tests_properties(soak.tidy PROPERTIES LABELS soak SKIP_RETURN_CODE 77 TIMEOUT 3600 PROCESSORS 2)
add_custom_target(tidy COMMAND ${tidy} USES_TERMINAL)
