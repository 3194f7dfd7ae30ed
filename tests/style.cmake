# SPDX-License-Identifier: Apache-2.0
add_test(NAME style.tree COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/style.sh ${PROJECT_SOURCE_DIR})
add_test(NAME style.symbols COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/style_symbols.sh
	$<TARGET_FILE:flextrace_tracer>)
add_test(NAME style.analyzer COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/analyzer_options.sh
	${PROJECT_SOURCE_DIR})
add_test(NAME style.check COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/check.sh ${PROJECT_SOURCE_DIR})
if(TARGET flextrace AND NOT CMAKE_CROSSCOMPILING)
	add_test(NAME style.docs COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/docs.py ${PROJECT_SOURCE_DIR} $<TARGET_FILE:flextrace>)
	set_tests_properties(style.docs PROPERTIES LABELS style)
endif()
set_tests_properties(style.check style.tree style.symbols style.analyzer PROPERTIES LABELS style SKIP_RETURN_CODE 77)
