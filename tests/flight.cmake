# SPDX-License-Identifier: Apache-2.0
# Recordings without an end: flight recorder, recovery, rotation. Each with a session daemon of its own.
if(TARGET flextrace AND TARGET flextrace_lttng)
	foreach(case flight recovery rotation)
		add_test(NAME record.${case} COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/private.sh
			${CMAKE_CURRENT_SOURCE_DIR}/record/${case}.sh $<TARGET_FILE:flextrace>
			$<TARGET_FILE:record_program>)
		set_tests_properties(record.${case} PROPERTIES LABELS lttng SKIP_RETURN_CODE 77 TIMEOUT 600
			RESOURCE_LOCK lttng ENVIRONMENT FLEXTRACE_PROVIDER=$<TARGET_FILE:flextrace_lttng>)
	endforeach()
endif()
