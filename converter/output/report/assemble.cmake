# SPDX-License-Identifier: Apache-2.0
# cmake -D PAGE=page/ -D MODULES=a;b -D OUT=DIR [-D CHARTS=dygraph.min.js -D CHARTS_STYLE=... -D CHARTS_NOTICE=... -D CHARTS_NAME=...]
#       -P assemble.cmake
# Puts the report page together: OUT/page.head, behind which the data of a trace stands, and OUT/page.tail. Scripts are
# named by their hash in the page's policy, so that the browser runs no other, whatever stands in the data.
set(base64 ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)

# A SHA-256 in hexadecimal digits, three of which are two of base 64.
function(to_base64 hex result)
	set(text "")
	foreach(at RANGE 0 60 3)
		string(SUBSTRING ${hex} ${at} 3 three)
		math(EXPR high "0x${three} >> 6")
		math(EXPR low "0x${three} & 63")
		string(SUBSTRING ${base64} ${high} 1 first)
		string(SUBSTRING ${base64} ${low} 1 second)
		string(APPEND text ${first}${second})
	endforeach()
	string(SUBSTRING ${hex} 63 1 last)
	math(EXPR last "0x${last} << 2")
	string(SUBSTRING ${base64} ${last} 1 last)
	set(${result} "${text}${last}=" PARENT_SCOPE)
endfunction()

# Adds a script to `scripts`, and its hash to `hashes`.
function(add_script text)
	string(SHA256 hash "${text}")
	to_base64(${hash} hash)
	set(hashes "${hashes} 'sha256-${hash}'" PARENT_SCOPE)
	set(scripts "${scripts}<script>${text}</script>\n" PARENT_SCOPE)
endfunction()

set(hashes "")
set(scripts "")
set(notice "")
file(READ ${PAGE}/page.css style)
if(CHARTS)
	file(READ ${CHARTS} library)
	file(READ ${CHARTS_STYLE} library_style)
	file(READ ${CHARTS_NOTICE} library_notice)
	# What developers' tools would ask for.
	string(REGEX REPLACE "\n//# sourceMappingURL=[^\n]*" "" library "${library}")
	string(REGEX REPLACE "/\\*# sourceMappingURL=[^*]*\\*/" "" library_style "${library_style}")
	string(REPLACE "</" "<\\/" library_notice "${library_notice}")
	string(APPEND style "${library_style}")
	set(notice "<script type=\"text/plain\" id=\"chart-notice\" data-name=\"${CHARTS_NAME}\">${library_notice}</script>")
	add_script("${library}")
endif()

set(page "(() => {\n'use strict';\n")
foreach(module ${MODULES})
	file(READ ${PAGE}/${module}.js text)
	string(APPEND page "${text}")
endforeach()
add_script("${page}})();\n")

file(READ ${PAGE}/page.html template)
string(FIND "${template}" "@DATA@" at)
string(SUBSTRING "${template}" 0 ${at} head)
math(EXPR at "${at} + 6")
string(SUBSTRING "${template}" ${at} -1 tail)
string(STRIP "${hashes}" hashes)
string(REPLACE "@SCRIPT_HASHES@" "${hashes}" head "${head}")
string(REPLACE "@STYLE@" "${style}" head "${head}")
string(REPLACE "@NOTICE@" "${notice}" tail "${tail}")
string(REPLACE "@SCRIPTS@" "${scripts}" tail "${tail}")
file(WRITE ${OUT}/page.head "${head}")
file(WRITE ${OUT}/page.tail "${tail}")
