# SPDX-License-Identifier: Apache-2.0
# Faults, as docs/reliability.md lists them: each row made to happen, and what is kept and said.
flextrace_add_unit_test(NAME consumers SOURCES cli/recording/lttng/consumers.c cli/process/process.c converter/base/paths.c
	converter/base/error.c tests/support/scratch.c)

if(TARGET flextrace AND TARGET flextrace_lttng)
	add_executable(fault_victim faults/victim.c)
	target_link_libraries(fault_victim PRIVATE flextrace_options flextrace_tracer Threads::Threads)
	add_executable(fault_device faults/bad_device.c)
	target_include_directories(fault_device PRIVATE ${PROJECT_SOURCE_DIR}/tests/support)
	target_link_libraries(fault_device PRIVATE flextrace_options flextrace_tracer flextrace_markers)
	foreach(case device orphan daemons disk parallel programs shm)
		set(program record_program)
		if(case STREQUAL programs)
			set(program fault_victim)
		elseif(case STREQUAL device)
			set(program fault_device)
		endif()
		set(size 1g)
		if(case STREQUAL shm)
			set(size 64m)
		endif()
		add_test(NAME faults.${case} COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/private.sh --shm ${size}
			${CMAKE_CURRENT_SOURCE_DIR}/faults/${case}.sh $<TARGET_FILE:flextrace> $<TARGET_FILE:${program}>)
		set_tests_properties(faults.${case} PROPERTIES LABELS "lttng;faults" SKIP_RETURN_CODE 77 TIMEOUT 600
			RESOURCE_LOCK lttng)
	endforeach()
endif()

if(TARGET flextrace)
	add_library(fault_at MODULE faults/fault_at.c)
	set_target_properties(fault_at PROPERTIES C_VISIBILITY_PRESET default)
	target_link_libraries(fault_at PRIVATE ${CMAKE_DL_LIBS})
	add_test(NAME faults.conversion COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/faults/conversion.sh $<TARGET_FILE:flextrace>
		$<TARGET_FILE:make_trace> $<TARGET_FILE:fault_at>)
	set_tests_properties(faults.conversion PROPERTIES LABELS faults TIMEOUT 600)
	add_test(NAME soak.conversion CONFIGURATIONS soak COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/faults/conversion.sh
		$<TARGET_FILE:flextrace> $<TARGET_FILE:make_trace> $<TARGET_FILE:fault_at> 1)
	set_tests_properties(soak.conversion PROPERTIES LABELS soak TIMEOUT 1200)
endif()
