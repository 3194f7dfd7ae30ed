# SPDX-License-Identifier: Apache-2.0
# Faults, as docs/reliability.md lists them: each row made to happen, and what is kept and said.
flextrace_add_unit_test(NAME consumers SOURCES cli/consumers.c cli/process.c tests/scratch.c)

if(TARGET flextrace AND TARGET flextrace_lttng)
	foreach(case orphan daemons)
		add_test(NAME faults.${case} COMMAND ${PROJECT_SOURCE_DIR}/tests/private.sh
			${CMAKE_CURRENT_SOURCE_DIR}/faults/${case}.sh $<TARGET_FILE:flextrace> $<TARGET_FILE:record_program>)
		set_tests_properties(faults.${case} PROPERTIES LABELS "lttng;faults" SKIP_RETURN_CODE 77 TIMEOUT 120
			RESOURCE_LOCK lttng)
	endforeach()
endif()

if(TARGET flextrace)
	add_library(kill_at MODULE faults/kill_at.c)
	set_target_properties(kill_at PROPERTIES C_VISIBILITY_PRESET default)
	target_link_libraries(kill_at PRIVATE ${CMAKE_DL_LIBS})
	add_test(NAME faults.killed COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/faults/killed.sh $<TARGET_FILE:flextrace>
		$<TARGET_FILE:make_trace> $<TARGET_FILE:kill_at>)
	set_tests_properties(faults.killed PROPERTIES LABELS faults TIMEOUT 300)
	add_test(NAME soak.killed CONFIGURATIONS soak COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/faults/killed.sh
		$<TARGET_FILE:flextrace> $<TARGET_FILE:make_trace> $<TARGET_FILE:kill_at> 1)
	set_tests_properties(soak.killed PROPERTIES LABELS soak TIMEOUT 1200)
endif()
