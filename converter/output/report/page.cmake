# SPDX-License-Identifier: Apache-2.0
# Puts the report page together when its parts change. Charts are drawn by dygraphs as the distribution has it
# (docs/adr/0011-charts-of-the-report.md); without the package, or with FLEXTRACE_CHARTS_DIR= empty, the page has none.
set(FLEXTRACE_CHARTS_DIR /usr/share/javascript/dygraphs CACHE PATH "Where dygraph.min.js and dygraph.min.css are")
set(FLEXTRACE_CHARTS_NOTICE /usr/share/doc/libjs-dygraphs/copyright CACHE FILEPATH "The licence of these")

set(report ${CMAKE_CURRENT_SOURCE_DIR}/report)
set(page ${CMAKE_CURRENT_BINARY_DIR}/report)
# In the order in which they stand in the page: all are one script.
set(modules data format dom words table bars charts flame strips verdict sections-time sections-ranks comparison main)
list(TRANSFORM modules REPLACE "(.+)" "${report}/page/\\1.js" OUTPUT_VARIABLE page_parts)
list(APPEND page_parts ${report}/page/page.css ${report}/page/page.html)

set(charts "")
set(charts_name "")
set(charts_parts ${FLEXTRACE_CHARTS_DIR}/dygraph.min.js ${FLEXTRACE_CHARTS_DIR}/dygraph.min.css
	${FLEXTRACE_CHARTS_NOTICE})
if(EXISTS "${FLEXTRACE_CHARTS_DIR}/dygraph.min.js" AND EXISTS "${FLEXTRACE_CHARTS_DIR}/dygraph.min.css"
		AND EXISTS "${FLEXTRACE_CHARTS_NOTICE}")
	file(STRINGS ${FLEXTRACE_CHARTS_DIR}/dygraph.min.js licence_line LIMIT_COUNT 1 LIMIT_INPUT 200)
	string(REGEX MATCH "dygraphs/blob/v([0-9.]+)/" found "${licence_line}")
	set(charts_name "dygraphs ${CMAKE_MATCH_1}")
	set(charts -D CHARTS=${FLEXTRACE_CHARTS_DIR}/dygraph.min.js -D CHARTS_STYLE=${FLEXTRACE_CHARTS_DIR}/dygraph.min.css
		-D CHARTS_NOTICE=${FLEXTRACE_CHARTS_NOTICE} -D CHARTS_NAME=${charts_name})
else()
	set(charts_parts "")
	message(STATUS "report.html has no charts over time: dygraphs (libjs-dygraphs) is not installed")
endif()

add_custom_command(OUTPUT ${page}/page.head ${page}/page.tail
	COMMAND ${CMAKE_COMMAND} -D PAGE=${report}/page "-D MODULES=${modules}" -D OUT=${page} ${charts} -P ${report}/assemble.cmake
	DEPENDS ${report}/assemble.cmake ${page_parts} ${charts_parts}
	COMMENT "Putting the report page together" VERBATIM)
set_source_files_properties(${report}/page.c PROPERTIES
	OBJECT_DEPENDS "${page}/page.head;${page}/page.tail"
	COMPILE_DEFINITIONS "FLEXTRACE_PAGE_HEAD=\"${page}/page.head\";FLEXTRACE_PAGE_TAIL=\"${page}/page.tail\"")
if(charts_name)
	set_property(SOURCE ${report}/page.c APPEND PROPERTY COMPILE_DEFINITIONS "FLEXTRACE_PAGE_CHARTS=\"${charts_name}\"")
endif()
