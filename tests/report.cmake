# SPDX-License-Identifier: Apache-2.0
# report.html in a browser. Pictures of it are kept in the build folder, for people to look at.
if(NOT FLEXTRACE_PYTHON OR CMAKE_CROSSCOMPILING OR NOT TARGET flextrace)
	return()
endif()
set(pictures ${PROJECT_BINARY_DIR}/report-pictures)
add_test(NAME report.page COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/report/page.sh $<TARGET_FILE:flextrace> ${FLEXTRACE_PYTHON} ${pictures})
add_test(NAME report.hostile COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/report/page.sh $<TARGET_FILE:flextrace> ${FLEXTRACE_PYTHON} ${pictures}
	6 7)
set_tests_properties(report.page report.hostile PROPERTIES LABELS report SKIP_RETURN_CODE 77 TIMEOUT 1200)
