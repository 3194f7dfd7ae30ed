# SPDX-License-Identifier: Apache-2.0
# Much of everything: records, threads, ranks, recordings. The long versions: ctest -C soak -L soak
if(NOT FLEXTRACE_CONVERTER OR NOT FLEXTRACE_BENCH)
	return()
endif()

add_test(NAME load.memory COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/load/memory.sh ${PROJECT_BINARY_DIR} 400000 16)
set_tests_properties(load.memory PROPERTIES LABELS load SKIP_RETURN_CODE 77 TIMEOUT 300)

add_test(NAME soak.memory CONFIGURATIONS soak COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/load/memory.sh ${PROJECT_BINARY_DIR} 30000000 480)
set_tests_properties(soak.memory PROPERTIES LABELS soak SKIP_RETURN_CODE 77 TIMEOUT 3600)
