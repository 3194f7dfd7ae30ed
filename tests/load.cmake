# SPDX-License-Identifier: Apache-2.0
# Much of everything: records, threads, ranks, recordings. The long versions: ctest -C soak -L soak
if(NOT FLEXTRACE_CONVERTER OR NOT FLEXTRACE_BENCH)
	return()
endif()
set(load ${CMAKE_CURRENT_SOURCE_DIR}/load)
set(private ${PROJECT_SOURCE_DIR}/tests/scripts/private.sh --shm 1g)

add_executable(load_threads load/threads.c)
set_target_properties(load_threads PROPERTIES OUTPUT_NAME threads)
target_link_libraries(load_threads PRIVATE flextrace_options flextrace_tracer Threads::Threads)

add_executable(load_make_ranks load/make_ranks.c support/ctf_writer.c)
set_target_properties(load_make_ranks PROPERTIES OUTPUT_NAME make_ranks)
target_include_directories(load_make_ranks PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(load_make_ranks PRIVATE flextrace_options flextrace_core)

add_test(NAME load.memory COMMAND ${load}/memory.sh ${PROJECT_BINARY_DIR} 500000 8 20 process)
add_test(NAME load.memory_group COMMAND ${load}/memory.sh ${PROJECT_BINARY_DIR} 500000 8 20 group)
add_test(NAME load.names COMMAND ${load}/names.sh ${PROJECT_BINARY_DIR} 300000)
add_test(NAME load.ranks COMMAND ${load}/ranks.sh ${PROJECT_BINARY_DIR})
add_test(NAME load.events COMMAND ${private} ${load}/events.sh ${PROJECT_BINARY_DIR} 2)
add_test(NAME load.threads COMMAND ${private} ${load}/threads.sh ${PROJECT_BINARY_DIR} 1000)
add_test(NAME load.sessions COMMAND ${private} ${load}/sessions.sh ${PROJECT_BINARY_DIR} 16)
set_tests_properties(load.memory load.memory_group load.names load.ranks load.events load.threads load.sessions PROPERTIES
	LABELS load SKIP_RETURN_CODE 77 TIMEOUT 900)

add_test(NAME soak.memory CONFIGURATIONS soak COMMAND ${load}/memory.sh ${PROJECT_BINARY_DIR} 30000000 480 480 process)
add_test(NAME soak.memory_group CONFIGURATIONS soak COMMAND ${load}/memory.sh ${PROJECT_BINARY_DIR} 30000000 480 480 group)
add_test(NAME soak.events CONFIGURATIONS soak COMMAND ${private} ${load}/events.sh ${PROJECT_BINARY_DIR} 60)
add_test(NAME soak.threads CONFIGURATIONS soak COMMAND ${private} ${load}/threads.sh ${PROJECT_BINARY_DIR} 10000)
add_test(NAME soak.sessions CONFIGURATIONS soak COMMAND ${private} ${load}/sessions.sh ${PROJECT_BINARY_DIR} 2000)
set_tests_properties(soak.memory soak.memory_group soak.events soak.threads soak.sessions PROPERTIES
	LABELS soak SKIP_RETURN_CODE 77 TIMEOUT 7200)
set_tests_properties(load.events load.threads load.sessions soak.events soak.threads soak.sessions PROPERTIES
	RESOURCE_LOCK lttng)
