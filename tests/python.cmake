# SPDX-License-Identifier: Apache-2.0
# The Python package, with the distribution's python3: against itself where nobody records, and recorded.
if(NOT FLEXTRACE_PYTHON OR CMAKE_CROSSCOMPILING)
	return()
endif()
get_target_property(package_dir flextrace_python LIBRARY_OUTPUT_DIRECTORY)
get_filename_component(package_dir ${package_dir} DIRECTORY)
set(package_environment PYTHONPATH=${package_dir} PYTHONDONTWRITEBYTECODE=1)

# Without the library; with it, and its hook, but nobody records.
add_test(NAME python.same COMMAND ${FLEXTRACE_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/same.py)
set_tests_properties(python.same PROPERTIES LABELS python ENVIRONMENT "${package_environment};FLEXTRACE=0")
add_test(NAME python.import COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/python/import.sh ${FLEXTRACE_PYTHON} ${package_dir})
set_tests_properties(python.import PROPERTIES LABELS python)

if(TARGET flextrace)
	add_test(NAME python.read COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/python/read.sh $<TARGET_FILE:flextrace>
		${FLEXTRACE_PYTHON} ${package_dir} ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus)
	add_test(NAME python.json_lines COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/python/json_lines.sh $<TARGET_FILE:flextrace>
		${FLEXTRACE_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus)
	add_test(NAME python.loads COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/python/loads.sh $<TARGET_FILE:flextrace>
		${FLEXTRACE_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus)
	set_tests_properties(python.read python.json_lines python.loads PROPERTIES LABELS python SKIP_RETURN_CODE 77)
	add_test(NAME cli.pftrace COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/perfetto/pftrace.sh $<TARGET_FILE:flextrace>
		${FLEXTRACE_PYTHON} $<TARGET_FILE:make_trace> $<TARGET_FILE:oracle_trace> ${FLEXTRACE_SHARED_DATA})
	set_tests_properties(cli.pftrace PROPERTIES LABELS cli SKIP_RETURN_CODE 77 TIMEOUT 600)
endif()
if(TARGET flextrace AND TARGET tracer_plain_lttng)
	foreach(options " " "-l --modules __main__,json")
		separate_arguments(words UNIX_COMMAND "${options}")
		string(REGEX MATCH "-l" suffix "${options}")
		add_test(NAME python.hooked${suffix} COMMAND ${FLEXTRACE_PYTHON}
			${CMAKE_CURRENT_SOURCE_DIR}/python/same.py ${words})
		set_tests_properties(python.hooked${suffix} PROPERTIES LABELS python
			ENVIRONMENT "${package_environment};FLEXTRACE_PROVIDER=$<TARGET_FILE:tracer_plain_lttng>")
	endforeach()
	add_test(NAME python.record COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/private.sh
		${CMAKE_CURRENT_SOURCE_DIR}/python/record.sh $<TARGET_FILE:flextrace> ${FLEXTRACE_PYTHON} ${package_dir})
	set_tests_properties(python.record PROPERTIES LABELS "python;lttng" SKIP_RETURN_CODE 77 TIMEOUT 1200
		RESOURCE_LOCK lttng ENVIRONMENT FLEXTRACE_PROVIDER=$<TARGET_FILE:tracer_plain_lttng>)
endif()
