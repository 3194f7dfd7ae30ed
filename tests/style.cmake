# SPDX-License-Identifier: Apache-2.0
add_test(NAME style.tree COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/style.sh ${PROJECT_SOURCE_DIR})
add_test(NAME style.symbols COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/style_symbols.sh
	$<TARGET_FILE:flextrace_tracer>)
add_test(NAME style.analyzer COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/analyzer_options.sh
	${PROJECT_SOURCE_DIR})
add_test(NAME style.extending COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/extending.sh
	${PROJECT_SOURCE_DIR} ${CMAKE_C_COMPILER})
add_test(NAME style.guide COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/guide.py ${PROJECT_SOURCE_DIR})
add_test(NAME style.check COMMAND ${PROJECT_SOURCE_DIR}/tests/scripts/check.sh ${PROJECT_SOURCE_DIR})
set_tests_properties(style.check style.guide style.tree style.symbols style.extending style.analyzer PROPERTIES LABELS style SKIP_RETURN_CODE 77)
